//! Making of plans.
//!
//! The planner visits pairs of types, beginning with the roots. It recurses over inline parts,
//! whose depth is limited, and queues the pairs behind pointers.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::compile::{children, compile};
use super::finding::{Change, Compatibility, Effect, Finding};
use super::layout::tag_bits;
use super::leaf::Leaf;
use super::number::{Fit, Number};
use super::plan::{
    Action, Becomes, DefaultSource, EnumNode, FieldStep, Graph, NodeId, OptionNode, OutcomeNode,
    PathId, Plan, PlanNode, Target, TargetId, UnwrapOption, VariantNode,
};
use super::scan::scan_default;
use super::types::Types;
use crate::schema::{DefaultValue, FieldInfo, FieldRules, Kind, TypeIndex, VariantInfo};

/// Maximum number of pairs of types behind pointers.
const PAIRS: usize = 1 << 16;

/// Maximum number of parts that are visited.
const PARTS: usize = 1 << 19;

/// Number of bytes of a schema that are hashed in about the time of a visit.
const BYTES_PER_PART: usize = 16;

/// Maximum length of a path in bytes; longer paths are shown by their end.
const PATH_BYTES: usize = 200;

/// Maximum length of a name in a path, in bytes.
const NAME_BYTES: usize = 64;

/// The position of a part in the new type.
struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
}

enum Step<'p> {
    /// The path of a target.
    Target(&'p str),
    Field(&'p str),
    Variant(&'p str),
    Element,
    Ok,
    Err,
}

impl<'p> Place<'p> {
    fn extended(&'p self, step: Step<'p>) -> Self {
        Place {
            parent: Some(self),
            step,
        }
    }

    fn render(&self) -> String {
        // From the end, because no more of a deeply nested place is shown.
        let mut pieces = Vec::new();
        let mut len = 0usize;
        let mut next = Some(self);
        while let Some(place) = next.filter(|_| len <= PATH_BYTES) {
            let piece = match &place.step {
                Step::Target(path_of) => ["", path_of],
                Step::Field(name) => [".", start_of(name)],
                Step::Variant(name) => ["::", start_of(name)],
                Step::Element => ["[]", ""],
                Step::Ok => ["::Ok", ""],
                Step::Err => ["::Err", ""],
            };
            len = piece
                .iter()
                .fold(len, |len, part| len.saturating_add(part.len()));
            pieces.push(piece);
            next = place.parent;
        }
        let mut path: String = pieces.iter().rev().flatten().copied().collect();
        if path.len() > PATH_BYTES {
            let cut = path.len().saturating_sub(PATH_BYTES);
            let cut = (cut..path.len()).find(|cut| path.is_char_boundary(*cut));
            path = format!("…{}", path.get(cut.unwrap_or(0)..).unwrap_or_default());
        }
        path
    }
}

/// Returns a name, or its start if it is long.
fn start_of(name: &str) -> &str {
    let end = (0..=NAME_BYTES)
        .rev()
        .find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or(0)).unwrap_or(name)
}

/// A pair of types, and true if numbers in it may be narrowed.
type Pair = (TypeIndex, TypeIndex, bool);

/// The finding that refuses a pair, by its index.
type Refused = usize;

/// Rules of fields, by their indices.
type Rules<'t> = &'t [(usize, FieldRules)];

/// Plans the conversion of messages of one schema to messages of another.
///
/// # Errors
///
/// The [`Compatibility`] if no message could be converted.
pub(crate) fn make_plan(from: Arc<Types>, to: Arc<Types>) -> Result<Plan, Compatibility> {
    let planner = Planner::new(&from, &to);
    let (planned, _) = planner.run((from.root(), to.root()));
    planned
}

/// Returns the plan that copies values of a type, for defaults. `left` is the number of parts that
/// may be visited; what is left of it is returned, too.
fn plan_default(
    types: &Arc<Types>,
    root: TypeIndex,
    left: usize,
) -> (Result<Plan, Compatibility>, usize) {
    let mut planner = Planner::new(types, types);
    planner.left = left;
    planner.run((root, root))
}

struct Planner<'t> {
    from: &'t Arc<Types>,
    to: &'t Arc<Types>,
    graph: Graph,
    /// Sizes of the old and the new slot of each node.
    sizes: Vec<(usize, usize)>,
    nodes: HashMap<Pair, NodeId>,
    targets: HashMap<Pair, TargetId>,
    /// The pairs of all targets, in order, with their paths.
    pairs: Vec<(Pair, Rc<str>)>,
    /// Types of shared pointers, and their identities.
    identities: Vec<(TypeIndex, u64)>,
    /// Plans of defaults by the types of their fields.
    default_plans: HashMap<TypeIndex, Arc<Plan>>,
    findings: Compatibility,
    /// Nodes without a conversion, and the findings that say why.
    refused: Vec<(NodeId, Refused)>,
    /// Number of parts that may still be visited.
    left: usize,
    /// Index of the finding that the limits were exceeded, if so.
    exceeded: Option<Refused>,
}

impl<'t> Planner<'t> {
    fn new(from: &'t Arc<Types>, to: &'t Arc<Types>) -> Self {
        Self {
            from,
            to,
            graph: Graph::default(),
            sizes: Vec::new(),
            nodes: HashMap::new(),
            targets: HashMap::new(),
            pairs: Vec::new(),
            identities: Vec::new(),
            default_plans: HashMap::new(),
            findings: Compatibility::default(),
            refused: Vec::new(),
            left: PARTS,
            exceeded: None,
        }
    }

    /// Makes the plan of a pair of roots. Also returns the number of parts that may still be
    /// visited.
    fn run(mut self, (from, to): (TypeIndex, TypeIndex)) -> (Result<Plan, Compatibility>, usize) {
        let (old, new) = (self.from.clone(), self.to.clone());
        let root = self.plan(from, to);
        let left = self.left;
        let (graph, compatibility) = self.finish(root);
        let planned = match graph {
            Some(graph) => Ok(Plan {
                descriptor: new.descriptor(to),
                from: old,
                to: new,
                root,
                graph,
                compatibility,
            }),
            None => Err(compatibility),
        };
        (planned, left)
    }

    /// Visits all pairs that the roots reach.
    fn plan(&mut self, from: TypeIndex, to: TypeIndex) -> TargetId {
        // The path of a form begins with the type that the program knows.
        let name = self.to.name(to);
        let name = name.strip_suffix("Ref").unwrap_or(name);
        let root = self.target((from, to, false), name.into());
        let mut next = 0usize;
        while let Some(((from, to, narrow), path)) = self.pairs.get(next).cloned() {
            let place = Place {
                parent: None,
                step: Step::Target(&path),
            };
            let node = self.node((from, to, narrow), &place);
            if let Some(target) = self.graph.targets.get_mut(next) {
                target.node = node;
            }
            next = next.saturating_add(1);
        }
        root
    }

    /// Completes the plan. There is none if the root can't be converted.
    fn finish(mut self, root: TargetId) -> (Option<Graph>, Compatibility) {
        let root = self.graph.targets.get(root.0 as usize);
        let Some(root) = root.map(|root| root.node) else {
            return (None, self.findings);
        };
        // The nodes that every message may need, and the findings that refuse every message.
        let mut always = HashSet::from([root]);
        let mut refusals = HashSet::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            let Some(node) = self.graph.nodes.get(id.0 as usize) else {
                continue;
            };
            let mut visit = |child| {
                if always.insert(child) {
                    stack.push(child);
                }
            };
            children(node, &self.graph.targets, &mut |child, variant| {
                if variant.is_none() {
                    visit(child);
                }
            });
            if let PlanNode::Refused { finding } = node {
                refusals.insert(*finding);
            }
        }
        let refuses_all = self.exceeded.is_some() || !refusals.is_empty();
        if self.exceeded.is_none() {
            // The others concern variants.
            for (index, finding) in self.findings.findings.iter_mut().enumerate() {
                if finding.effect == Effect::Refused && !refusals.contains(&index) {
                    finding.effect = Effect::Conditional;
                }
            }
            if !refuses_all {
                let unlisted = &mut self.findings.unlisted_effect;
                *unlisted = (*unlisted).min(Some(Effect::Conditional));
            }
        }
        if refuses_all {
            let mut listed = self.findings.findings.iter();
            if !listed.any(|finding| finding.effect == Effect::Refused) {
                let path = self.pairs.first().map(|(_, path)| path.to_string());
                self.findings.findings.push(Finding {
                    path: path.unwrap_or_default(),
                    effect: Effect::Refused,
                    change: Change::Changed,
                    details: "there are too many differences".to_owned(),
                });
            }
            return (None, self.findings);
        }
        compile(&mut self.graph, &self.sizes, &self.refused);
        (Some(self.graph), self.findings)
    }

    /// Adds a finding, and returns its index.
    fn find(
        &mut self,
        place: &Place<'_>,
        effect: Effect,
        change: Change,
        details: String,
    ) -> usize {
        let listed = self.findings.findings.len();
        // Those that refuse messages have room of their own.
        let room = match effect {
            Effect::Refused => Compatibility::LISTED.saturating_mul(2),
            Effect::Converted | Effect::Conditional => Compatibility::LISTED,
        };
        if listed >= room {
            self.findings.unlisted = self.findings.unlisted.saturating_add(1);
            let strongest = &mut self.findings.unlisted_effect;
            *strongest = (*strongest).max(Some(effect));
            return listed.saturating_sub(1);
        }
        self.findings.findings.push(Finding {
            path: place.render(),
            effect,
            change,
            details,
        });
        listed
    }

    fn refuse(&mut self, place: &Place<'_>, details: impl Into<String>) -> Refused {
        self.find(place, Effect::Refused, Change::Changed, details.into())
    }

    /// Counts a part that is visited.
    fn count(&mut self, parts: usize, place: &Place<'_>) -> Result<(), Refused> {
        if let Some(exceeded) = self.exceeded {
            return Err(exceeded);
        }
        match self.left.checked_sub(parts) {
            Some(left) if self.pairs.len() <= PAIRS => {
                self.left = left;
                Ok(())
            }
            _ => {
                let details = "the types have too many parts for a conversion";
                let exceeded = self.refuse(place, details);
                self.exceeded = Some(exceeded);
                Err(exceeded)
            }
        }
    }

    /// Returns the pair as it is visited: once, if narrowing makes no difference, which does not
    /// reach the fields of structs and enums.
    fn canonical(&self, (a, b, narrow): Pair) -> Pair {
        let has_fields =
            |types: &Types, of| matches!(types.kind(of), Kind::Struct(_) | Kind::Enum { .. });
        (
            a,
            b,
            narrow && !(has_fields(self.from, a) && has_fields(self.to, b)),
        )
    }

    /// Returns the target of a pair, which is visited later if it is new.
    fn target(&mut self, pair: Pair, path: Rc<str>) -> TargetId {
        let pair = self.canonical(pair);
        if let Some(known) = self.targets.get(&pair) {
            return *known;
        }
        let id = TargetId(u32::try_from(self.pairs.len()).unwrap_or(u32::MAX));
        self.targets.insert(pair, id);
        self.pairs.push((pair, path));
        self.graph.targets.push(Target {
            node: NodeId(u32::MAX),
            from_layout: *self.from.layout(pair.0),
            to_layout: *self.to.layout(pair.1),
        });
        id
    }

    fn target_at(&mut self, pair: Pair, place: &Place<'_>) -> TargetId {
        let pair = self.canonical(pair);
        match self.targets.get(&pair) {
            Some(known) => *known,
            None => self.target(pair, place.render().into()),
        }
    }

    fn push(&mut self, node: PlanNode, sizes: (usize, usize)) -> NodeId {
        let id = NodeId(u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX));
        if let PlanNode::Refused { finding } = node {
            self.refused.push((id, finding));
        }
        self.graph.nodes.push(node);
        self.sizes.push(sizes);
        id
    }

    /// Returns the node of a pair.
    fn node(&mut self, pair: Pair, place: &Place<'_>) -> NodeId {
        let pair = self.canonical(pair);
        if let Some(known) = self.nodes.get(&pair) {
            return *known;
        }
        let made = self.convert(pair, place);
        let node = made.unwrap_or_else(|finding| PlanNode::Refused { finding });
        let sizes = (self.from.layout(pair.0).size, self.to.layout(pair.1).size);
        let id = self.push(node, sizes);
        self.nodes.insert(pair, id);
        id
    }

    fn path(&mut self, place: &Place<'_>) -> PathId {
        let id = PathId(u32::try_from(self.graph.paths.len()).unwrap_or(u32::MAX));
        self.graph.paths.push(place.render().into());
        id
    }

    fn convert(&mut self, (a, b, narrow): Pair, place: &Place<'_>) -> Result<PlanNode, Refused> {
        self.count(1, place)?;
        let (from, to) = (self.from, self.to);
        let part = |a, b| (a, b, narrow);
        let (old, new) = (from.layout(a), to.layout(b));
        Ok(match (from.kind(a), to.kind(b)) {
            (Kind::Leaf, Kind::Leaf) => self.leaf((a, b, narrow), place)?,
            (Kind::Struct(_), Kind::Struct(_)) => self.structure(a, b, place)?,
            (
                Kind::Enum { tag, variants },
                Kind::Enum {
                    tag: new_tag,
                    variants: new_variants,
                },
            ) => {
                let tags = ((old.tag_at, *tag), (new.tag_at, *new_tag));
                self.enumeration((a, b), tags, (variants, new_variants), place)?
            }
            (Kind::Optional(payload), Kind::Optional(new_payload)) => {
                PlanNode::Option(OptionNode {
                    from: old.none,
                    of: a,
                    to: new.none,
                    payload: self.node(part(*payload, *new_payload), place),
                })
            }
            (_, Kind::Optional(payload)) => {
                self.find(
                    place,
                    Effect::Converted,
                    Change::Changed,
                    "is optional now".to_owned(),
                );
                PlanNode::Some {
                    to: new.none,
                    payload: self.node(part(a, *payload), place),
                }
            }
            (Kind::Outcome(ok, err), Kind::Outcome(new_ok, new_err)) => {
                let ok = self.node(part(*ok, *new_ok), &place.extended(Step::Ok));
                let err = self.node(part(*err, *new_err), &place.extended(Step::Err));
                PlanNode::Outcome(OutcomeNode {
                    from: old.none,
                    of: a,
                    to: new.none,
                    ok,
                    err,
                })
            }
            (Kind::Array(element, len), Kind::Array(new_element, new_len)) if len == new_len => {
                let pair = part(*element, *new_element);
                if *len == 0 {
                    return Ok(PlanNode::Copy { len: 0 });
                }
                PlanNode::Array {
                    element: self.node(pair, &place.extended(Step::Element)),
                    len: *len,
                    from_size: from.layout(*element).size,
                    to_size: to.layout(*new_element).size,
                }
            }
            (Kind::Array(element, len), Kind::Slice(new_element))
                if *to.kind(*new_element) != Kind::Text =>
            {
                self.find(
                    place,
                    Effect::Converted,
                    Change::Changed,
                    "is a slice now".to_owned(),
                );
                let element = place.extended(Step::Element);
                PlanNode::Spread {
                    target: self.target_at(
                        part(*element_of(from, a).unwrap_or(&a), *new_element),
                        &element,
                    ),
                    len: *len,
                }
            }
            (Kind::Reference(_) | Kind::Slice(_), Kind::Reference(_) | Kind::Slice(_)) => {
                self.pointer((a, b, narrow), place)?
            }
            (Kind::Shared(_), Kind::Shared(_)) => self.shared((a, b, narrow), false, place)?,
            (Kind::Changeable(old), Kind::Changeable(new)) => {
                self.shared((*old, *new, narrow), true, place)?
            }
            _ => return Err(self.other_kind(a, b, place)),
        })
    }

    fn other_kind(&mut self, a: TypeIndex, b: TypeIndex, place: &Place<'_>) -> Refused {
        let (old, new) = (self.from.spelling(a), self.to.spelling(b));
        let advice = match (self.from.kind(a), self.to.kind(b)) {
            (Kind::Optional(_), _) => {
                "; `#[transportable(default)]` at the field gives it a value where there is none"
            }
            (Kind::Shared(_), _) | (_, Kind::Shared(_)) => {
                "; a pointer can't become shared, nor cease to be"
            }
            _ => "",
        };
        self.refuse(place, format!("`{old}` can't become `{new}`{advice}"))
    }

    fn leaf(&mut self, (a, b, narrow): Pair, place: &Place<'_>) -> Result<PlanNode, Refused> {
        let (old, new) = (self.from.name(a), self.to.name(b));
        let (size, new_size) = (self.from.layout(a).size, self.to.layout(b).size);
        if (old, size) == (new, new_size) {
            return Ok(PlanNode::Copy { len: size });
        }
        let numbers = Number::from_name(old, size).zip(Number::from_name(new, new_size));
        let Some((from, to)) = numbers else {
            return Err(self.other_kind(a, b, place));
        };
        match from.fit(to) {
            Fit::Same => Ok(PlanNode::Copy { len: size }),
            Fit::Widens => {
                let (old, new) = (start_of(old), start_of(new));
                let details = format!("`{old}` is widened to `{new}`");
                self.find(place, Effect::Converted, Change::Widened, details);
                Ok(PlanNode::Widen { from, to })
            }
            Fit::Narrows if narrow => {
                let details = format!("`{old}` becomes `{new}`, which lacks some of its values");
                self.find(place, Effect::Conditional, Change::Narrowed, details);
                let path = self.path(place);
                Ok(PlanNode::Narrow { from, to, path })
            }
            Fit::Narrows => {
                let details = format!(
                    "`{old}` can't become `{new}`, which lacks some of its values; \
                     `#[transportable(narrow)]` at the field accepts the others"
                );
                Err(self.refuse(place, details))
            }
            Fit::Never => Err(self.other_kind(a, b, place)),
        }
    }

    fn pointer(&mut self, (a, b, narrow): Pair, place: &Place<'_>) -> Result<PlanNode, Refused> {
        let (from, to) = (self.from, self.to);
        let pointers = from.pointer(a).zip(to.pointer(b));
        let Some(((target, many), (new_target, new_many))) = pointers else {
            return Err(self.other_kind(a, b, place));
        };
        let (kind, new_kind) = (from.kind(target), to.kind(new_target));
        match (kind, new_kind) {
            _ if many != new_many => Err(self.other_kind(a, b, place)),
            (Kind::Text, Kind::Text) => Ok(PlanNode::Text),
            (Kind::Dynamic, Kind::Dynamic) if from.name(target) == to.name(new_target) => {
                let path = self.path(place);
                let of_trait = PathId(u32::try_from(self.graph.paths.len()).unwrap_or(u32::MAX));
                self.graph.paths.push(to.name(new_target).into());
                Ok(PlanNode::Object { path, of_trait })
            }
            (Kind::Text | Kind::Dynamic, _) | (_, Kind::Text | Kind::Dynamic) => {
                Err(self.other_kind(a, b, place))
            }
            _ => {
                let pair = (target, new_target, narrow);
                let target = match many {
                    true => self.target_at(pair, &place.extended(Step::Element)),
                    false => self.target_at(pair, place),
                };
                Ok(PlanNode::Pointer { target, many })
            }
        }
    }

    fn shared(
        &mut self,
        (a, b, narrow): Pair,
        in_cell: bool,
        place: &Place<'_>,
    ) -> Result<PlanNode, Refused> {
        let (Kind::Shared(old), Kind::Shared(new)) = (self.from.kind(a), self.to.kind(b)) else {
            return Err(self.other_kind(a, b, place));
        };
        Ok(PlanNode::Shared {
            pointer: self.node((*old, *new, narrow), place),
            identity: self.identity(*new, place)?,
            in_cell,
        })
    }

    /// Returns the identity of a pointer type of the new version. Pointers share their targets if
    /// they have one type in the program; across the plans of classes, if they have one structure.
    fn identity(&mut self, pointer: TypeIndex, place: &Place<'_>) -> Result<u64, Refused> {
        if let Some((_, known)) = self.identities.iter().find(|(of, _)| *of == pointer) {
            return Ok(*known);
        }
        self.count(self.to.encoded_len().div_ceil(BYTES_PER_PART), place)?;
        let descriptor = self.to.schema().descriptor(pointer);
        let same = |(_, identity): &&(TypeIndex, u64)| identity.wrapping_sub(descriptor) < 256;
        let rank = self.identities.iter().filter(same).count() as u64;
        let identity = descriptor.wrapping_add(rank);
        self.identities.push((pointer, identity));
        Ok(identity)
    }

    fn structure(
        &mut self,
        a: TypeIndex,
        b: TypeIndex,
        place: &Place<'_>,
    ) -> Result<PlanNode, Refused> {
        let (from, to) = (self.from, self.to);
        let (Kind::Struct(old), Kind::Struct(new)) = (from.kind(a), to.kind(b)) else {
            return Err(self.other_kind(a, b, place));
        };
        let (name, new_name) = (from.name(a), to.name(b));
        if name != new_name && (has_meaning(name) || has_meaning(new_name)) {
            let (name, new_name) = (start_of(name), start_of(new_name));
            return Err(self.refuse(place, format!("`{name}` can't become `{new_name}`")));
        }
        if is_set(name) {
            let keys = |types: &Types, fields: &[FieldInfo]| {
                let elements = fields.iter().find(|field| field.name == "elements");
                let elements = elements.and_then(|field| types.pointer(field.of));
                elements.map(|(key, _)| key)
            };
            let keys = keys(from, old).zip(keys(to, new));
            if !keys.is_none_or(|(old, new)| self.keys_are_kept(old, new)) {
                let details = "the type of the keys has changed, on which their order depends";
                return Err(self.refuse(place, details));
            }
        }
        let rules = |types: &'t Types, of| types.schema().rules(of).map(|rules| &*rules.fields);
        let rules = (
            rules(from, a).unwrap_or_default(),
            rules(to, b).unwrap_or_default(),
        );
        self.fields((old, new), rules, place).map(PlanNode::Struct)
    }

    /// Pairs the fields of two structs or variants.
    fn fields(
        &mut self,
        (old, new): (&'t [FieldInfo], &'t [FieldInfo]),
        (old_rules, rules): (Rules<'t>, Rules<'t>),
        place: &Place<'_>,
    ) -> Result<Box<[FieldStep]>, Refused> {
        self.count(old.len().saturating_add(new.len()), place)?;
        let mut by_name = HashMap::new();
        // Each refusal is a part of the struct, so that all of them have the effect of the struct.
        let mut refused = Vec::new();
        for (index, field) in old.iter().enumerate() {
            if by_name.insert(&*field.name, index).is_some() {
                let details = format!("the old version has two fields `{}`", start_of(&field.name));
                refused.push(self.refuse(place, details));
            }
        }
        let mut names: HashSet<&str> = HashSet::new();
        for field in new {
            if !names.insert(&field.name) {
                let details = format!("the new version has two fields `{}`", start_of(&field.name));
                refused.push(self.refuse(place, details));
            }
        }
        let mut taken = vec![false; old.len()];
        let mut steps = Vec::with_capacity(new.len());
        for (index, field) in new.iter().enumerate() {
            let place = place.extended(Step::Field(&field.name));
            let rules = rule(rules, index);
            let older = rules.map_or(&[][..], |rules| &rules.names);
            self.count(older.len(), &place)?;
            if let Some(name) = older.iter().find(|name| names.contains(&***name)) {
                let name = start_of(name);
                let details = format!("the older name `{name}` is that of another field");
                refused.push(self.refuse(&place, details));
                continue;
            }
            match self.field((old, field), rules, (&by_name, &mut taken), &place) {
                Ok(step) => steps.push(step),
                Err(finding) => refused.push(finding),
            }
        }
        for (index, (field, taken)) in old.iter().zip(taken).enumerate() {
            if taken {
                continue;
            }
            let place = place.extended(Step::Field(&field.name));
            let must = rule(old_rules, index).is_some_and(|rule| rule.must_understand);
            if must || self.from.holds_obligation(field.of) {
                let details = "the new version lacks the field, which must be understood";
                let details = details.to_owned();
                refused.push(self.find(&place, Effect::Refused, Change::Removed, details));
            } else {
                self.find(
                    &place,
                    Effect::Converted,
                    Change::Removed,
                    "is left out".to_owned(),
                );
            }
        }
        for finding in refused {
            let part = self.push(PlanNode::Refused { finding }, (0, 0));
            steps.push(FieldStep {
                from: 0,
                to: 0,
                action: Action::Convert(part),
            });
        }
        Ok(steps.into())
    }

    /// Finds the value of a field of the new version.
    fn field(
        &mut self,
        (old, field): (&'t [FieldInfo], &'t FieldInfo),
        rules: Option<&'t FieldRules>,
        (by_name, taken): (&HashMap<&str, usize>, &mut [bool]),
        place: &Place<'_>,
    ) -> Result<FieldStep, Refused> {
        let default = rules.and_then(|rules| rules.default.as_ref());
        let mut found = by_name.get(&*field.name).copied();
        if found.is_none() {
            let names = rules.map_or(&[][..], |rules| &rules.names);
            found = names.iter().find_map(|name| by_name.get(&**name).copied());
            if let Some(field) = found.and_then(|found| old.get(found)) {
                let details = format!("was `{}`", start_of(&field.name));
                self.find(place, Effect::Converted, Change::Renamed, details);
            }
        }
        let step = |from, action| FieldStep {
            from,
            to: field.offset,
            action,
        };
        let source = found.and_then(|found| Some((old.get(found)?, taken.get_mut(found)?)));
        let Some((source, taken)) = source else {
            if let Some(default) = default {
                self.find(
                    place,
                    Effect::Converted,
                    Change::Added,
                    "gets its default".to_owned(),
                );
                let default = self.default(field.of, default, place)?;
                return Ok(step(0, Action::Default(default)));
            }
            if let Kind::Optional(_) = self.to.kind(field.of) {
                self.find(
                    place,
                    Effect::Converted,
                    Change::Added,
                    "is `None`".to_owned(),
                );
                return Ok(step(
                    0,
                    Action::Leaf(Leaf::None(self.to.layout(field.of).none)),
                ));
            }
            if self.to.layout(field.of).size == 0 {
                return Ok(step(0, Action::Leaf(Leaf::Copy { len: 0 })));
            }
            let details = "the old version lacks the field; give it a value by \
                        `#[transportable(default)]`, or by `renamed_from` its older name";
            return Err(self.find(place, Effect::Refused, Change::Added, details.to_owned()));
        };
        if *taken {
            let details = format!(
                "two fields of the new version take the field `{}` of the old one",
                start_of(&source.name)
            );
            return Err(self.refuse(place, details));
        }
        *taken = true;
        let narrow = rules.is_some_and(|rules| rules.narrow);
        let (kind, new_kind) = (self.from.kind(source.of), self.to.kind(field.of));
        if let (Kind::Optional(payload), Some(default), false) =
            (kind, default, matches!(new_kind, Kind::Optional(_)))
        {
            self.find(
                place,
                Effect::Converted,
                Change::Changed,
                "`None` becomes the default".to_owned(),
            );
            let unwrap = UnwrapOption {
                from: self.from.layout(source.of).none,
                of: source.of,
                payload: self.node((*payload, field.of, narrow), place),
                default: self.default(field.of, default, place)?,
            };
            return Ok(step(source.offset, Action::Unwrap(unwrap)));
        }
        let node = self.node((source.of, field.of, narrow), place);
        Ok(step(source.offset, Action::Convert(node)))
    }

    /// Adds a default, and returns its index.
    fn default(
        &mut self,
        of: TypeIndex,
        default: &DefaultValue,
        place: &Place<'_>,
    ) -> Result<usize, Refused> {
        let message = default.message();
        let message =
            message.map_err(|error| self.refuse(place, format!("the default: {error}")))?;
        self.count(message.len().div_ceil(64), place)?;
        let plan = match self.default_plans.get(&of) {
            Some(known) => known.clone(),
            None => {
                // The descriptor of the type needs a table of all types.
                self.count(self.to.schema().len().div_ceil(64), place)?;
                let (plan, left) = plan_default(self.to, of, self.left);
                self.left = left;
                let plan = plan.map_err(|findings| {
                    let first = findings.findings().first();
                    let details = first
                        .map_or("invalid", |finding| &finding.details)
                        .to_owned();
                    self.refuse(place, format!("the default: {details}"))
                })?;
                let plan = Arc::new(plan);
                self.default_plans.insert(of, plan.clone());
                plan
            }
        };
        let scanned = scan_default(self.to, (of, plan.descriptor), &message);
        let scanned = scanned.map_err(|fault| {
            self.refuse(
                place,
                format!("the default is not a value of the type: {fault}"),
            )
        })?;
        // Its values may have no size, so that a short default has very many of them.
        let (scanned, values) = scanned;
        self.count(values, place)?;
        let index = self.graph.defaults.len();
        self.graph.defaults.push(DefaultSource {
            message,
            scanned,
            plan,
        });
        Ok(index)
    }

    fn enumeration(
        &mut self,
        (a, b): (TypeIndex, TypeIndex),
        (from_tag, to_tag): ((usize, usize), (usize, usize)),
        (old, new): (&'t [VariantInfo], &'t [VariantInfo]),
        place: &Place<'_>,
    ) -> Result<PlanNode, Refused> {
        self.count(old.len().saturating_add(new.len()), place)?;
        let (old_rules, new_rules) = (self.from.schema().rules(a), self.to.schema().rules(b));
        let rules_of = |index| new_rules.and_then(|rules| rule(&rules.variants, index));
        let mut by_name = HashMap::new();
        let mut other = None;
        for (index, variant) in new.iter().enumerate() {
            if by_name.insert(&*variant.name, index).is_some() {
                let name = start_of(&variant.name);
                let details = format!("the new version has two variants `{name}`");
                return Err(self.refuse(place, details));
            }
            if rules_of(index).is_some_and(|rules| rules.other) && variant.fields.is_empty() {
                other = Some(index);
            }
        }
        for index in 0..new.len() {
            let older = rules_of(index).map_or(&[][..], |rules| &rules.names);
            self.count(older.len(), place)?;
            for name in older {
                if by_name.insert(&**name, index).is_some() {
                    let name = start_of(name);
                    let details = format!("the older name `{name}` is that of two variants");
                    return Err(self.refuse(place, details));
                }
            }
        }
        let path = self.path(place);
        let mut names = HashSet::new();
        let mut variants = Vec::with_capacity(old.len());
        for (index, variant) in old.iter().enumerate() {
            if !names.insert(&*variant.name) {
                let name = start_of(&variant.name);
                let details = format!("the old version has two variants `{name}`");
                return Err(self.refuse(place, details));
            }
            let place = place.extended(Step::Variant(&variant.name));
            let known = by_name.get(&*variant.name).copied();
            let obliged = known.is_none()
                && (variant.fields.iter().enumerate()).any(|(field, info)| {
                    let rules = old_rules.and_then(|rules| rule(&rules.variants, index));
                    let rules = rules.and_then(|rules| rule(&rules.fields, field));
                    rules.is_some_and(|rule| rule.must_understand)
                        || self.from.holds_obligation(info.of)
                });
            let becomes = match (known.or(other.filter(|_| !obliged)), known) {
                (Some(place_of), None) => {
                    let details = "becomes the variant for unknown ones".to_owned();
                    self.find(&place, Effect::Converted, Change::Removed, details);
                    let fields = self.push(PlanNode::Copy { len: 0 }, (0, 0));
                    let tag = new.get(place_of).map_or(0, |new| tag_bits(new, to_tag.1));
                    Becomes::Variant { tag, fields }
                }
                (_, Some(index_of_new)) => {
                    let old_rules = old_rules.and_then(|rules| rule(&rules.variants, index));
                    let rules = rules_of(index_of_new);
                    let rules = (
                        old_rules.map_or(&[][..], |rules| &rules.fields),
                        rules.map_or(&[][..], |rules| &rules.fields),
                    );
                    let new = new.get(index_of_new);
                    let new_fields = new.map_or(&[][..], |new| &new.fields);
                    let fields = self.fields((&variant.fields, new_fields), rules, &place);
                    let node = match fields {
                        Ok(steps) => PlanNode::Struct(steps),
                        Err(finding) => PlanNode::Refused { finding },
                    };
                    Becomes::Variant {
                        tag: new.map_or(0, |new| tag_bits(new, to_tag.1)),
                        fields: self.push(node, (usize::MAX, usize::MAX)),
                    }
                }
                _ => {
                    let details = "the new version lacks the variant".to_owned();
                    self.find(&place, Effect::Conditional, Change::Removed, details);
                    Becomes::Unknown
                }
            };
            variants.push(VariantNode {
                from: tag_bits(variant, from_tag.1),
                name: start_of(&variant.name).into(),
                becomes,
            });
        }
        variants.sort_by_key(|variant| variant.from);
        let is_indexed = (0u64..)
            .zip(&variants)
            .all(|(index, variant)| variant.from == index);
        Ok(PlanNode::Enum(Box::new(EnumNode {
            from_tag,
            to_tag,
            variants,
            is_indexed,
            path,
        })))
    }

    /// Returns true if keys of the old type keep their order and their hashes.
    fn keys_are_kept(&mut self, a: TypeIndex, b: TypeIndex) -> bool {
        let (from, to) = (self.from, self.to);
        let mut visited = HashSet::from([(a, b, false)]);
        // With each pair, true if it is the element of a slice or array, whose integers are hashed
        // together.
        let mut stack = vec![(a, b, false)];
        while let Some((a, b, is_element)) = stack.pop() {
            let fields = from.part_count(a).saturating_add(to.part_count(b));
            let Some(left) = self.left.checked_sub(fields.saturating_add(1)) else {
                return false;
            };
            self.left = left;
            let mut push = |a: TypeIndex, b: TypeIndex, is_element| {
                if visited.insert((a, b, is_element)) {
                    stack.push((a, b, is_element));
                }
            };
            let kept = match (from.kind(a), to.kind(b)) {
                (Kind::Leaf, Kind::Leaf) => {
                    let (size, new_size) = (from.layout(a).size, to.layout(b).size);
                    let (name, new_name) = (from.name(a), to.name(b));
                    let numbers =
                        Number::from_name(name, size).zip(Number::from_name(new_name, new_size));
                    let fits = numbers.is_some_and(|(old, new)| match old.fit(new) {
                        Fit::Same | Fit::Widens => !is_element && new.size <= 8,
                        Fit::Narrows | Fit::Never => false,
                    });
                    (name, size) == (new_name, new_size) || fits
                }
                (Kind::Text, Kind::Text) => true,
                (Kind::Struct(old), Kind::Struct(new)) => {
                    let rules = to.schema().rules(b).map_or(&[][..], |rules| &rules.fields);
                    // Types of other names may have another order.
                    from.name(a) == to.name(b) && fields_are_parallel(old, new, rules, &mut push)
                }
                (Kind::Enum { variants: old, .. }, Kind::Enum { variants: new, .. }) => {
                    let rules = to
                        .schema()
                        .rules(b)
                        .map_or(&[][..], |rules| &rules.variants);
                    old.len() == new.len()
                        && from.name(a) == to.name(b)
                        && old.iter().zip(new).enumerate().all(|(index, (old, new))| {
                            let rules = rule(rules, index);
                            let names = rules.map_or(&[][..], |rules| &rules.names);
                            let fields = rules.map_or(&[][..], |rules| &rules.fields);
                            (old.name == new.name || names.contains(&old.name))
                                && old.discriminant == new.discriminant
                                && fields_are_parallel(&old.fields, &new.fields, fields, &mut push)
                        })
                }
                (Kind::Optional(a), Kind::Optional(b))
                | (Kind::Reference(a), Kind::Reference(b))
                | (Kind::Shared(a), Kind::Shared(b)) => {
                    push(*a, *b, false);
                    true
                }
                (Kind::Outcome(a, c), Kind::Outcome(b, d)) => {
                    push(*a, *b, false);
                    push(*c, *d, false);
                    true
                }
                (Kind::Slice(a), Kind::Slice(b)) => {
                    push(*a, *b, true);
                    true
                }
                (Kind::Array(a, len), Kind::Array(b, new_len)) => {
                    push(*a, *b, true);
                    len == new_len
                }
                _ => false,
            };
            if !kept {
                return false;
            }
        }
        true
    }
}

/// Returns the element of an array.
fn element_of(types: &Types, of: TypeIndex) -> Option<&TypeIndex> {
    match types.kind(of) {
        Kind::Array(element, _) => Some(element),
        _ => None,
    }
}

/// Returns true if two lists have the same fields in the same order, apart from renamed ones, and
/// passes the pairs of their types to `push`.
fn fields_are_parallel(
    old: &[FieldInfo],
    new: &[FieldInfo],
    rules: &[(usize, FieldRules)],
    push: &mut impl FnMut(TypeIndex, TypeIndex, bool),
) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).enumerate().all(|(index, (old, new))| {
            push(old.of, new.of, false);
            let names = rule(rules, index).map_or(&[][..], |rules| &rules.names);
            old.name == new.name || names.contains(&old.name)
        })
}

/// Returns the rule with this index.
fn rule<R>(rules: &[(usize, R)], index: usize) -> Option<&R> {
    let place = rules.binary_search_by_key(&index, |(index, _)| *index);
    rules.get(place.ok()?).map(|(_, rule)| rule)
}

/// Returns true if this is the name of a set, whose first field holds the keys.
fn is_set(name: &str) -> bool {
    matches!(name, "SortedSet" | "HashedSet" | "IndexedSet")
}

/// Returns true if a struct of this name, with fields of the same names as another one's, may have
/// another meaning: those of `std`, of adapters for other crates, and maps.
fn has_meaning(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "SortedMap",
        "HashedMap",
        "IndexedMap",
        "Range",
        "RangeFrom",
        "RangeTo",
        "RangeInclusive",
        "RangeToInclusive",
        "Bound",
        "Wrapping",
        "Saturating",
        "NdArray",
        "Quat",
        "DQuat",
    ];
    let is_of_glam = [
        "Vec", "DVec", "IVec", "UVec", "Mat", "DMat", "Affine", "DAffine",
    ]
    .iter()
    .any(|start| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
    });
    is_set(name) || NAMES.contains(&name) || is_of_glam
}

impl Types {
    /// Returns a short description of a type for findings.
    fn spelling(&self, of: TypeIndex) -> String {
        match self.kind(of) {
            Kind::Leaf | Kind::Struct(_) | Kind::Enum { .. } | Kind::Text | Kind::Dynamic => {
                self.short(of).to_owned()
            }
            Kind::Optional(payload) => format!("Option<{}>", self.short(*payload)),
            Kind::Outcome(ok, err) => {
                format!("Result<{}, {}>", self.short(*ok), self.short(*err))
            }
            Kind::Array(element, len) => format!("[{}; {len}]", self.short(*element)),
            Kind::Reference(target) => format!("&{}", self.short(*target)),
            Kind::Slice(element) => match self.kind(*element) {
                Kind::Text => "&str".to_owned(),
                _ => format!("&[{}]", self.short(*element)),
            },
            Kind::Shared(pointer) => format!("Shared<{}>", self.short(*pointer)),
            Kind::Changeable(_) => "Cell".to_owned(),
        }
    }

    /// Returns the number of fields and variants of a type.
    fn part_count(&self, of: TypeIndex) -> usize {
        match self.kind(of) {
            Kind::Struct(fields) => fields.len(),
            Kind::Enum { variants, .. } => variants.iter().fold(variants.len(), |sum, variant| {
                sum.saturating_add(variant.fields.len())
            }),
            _ => 0,
        }
    }

    /// Returns the name of a part of a type.
    fn short(&self, of: TypeIndex) -> &str {
        match self.kind(of) {
            Kind::Leaf | Kind::Struct(_) | Kind::Enum { .. } | Kind::Text | Kind::Dynamic => {
                start_of(self.name(of))
            }
            _ => "…",
        }
    }
}
