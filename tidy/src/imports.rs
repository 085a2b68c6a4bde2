//! Imports between the files of a crate.
//!
//! A file imports another one if it names an item that the other one defines: in a `use`, or by a
//! path such as `crate::wire::align_up`. Re-exports are resolved to the file that defines the item.
//! A re-export itself is an import only if its file uses the name, so a facade imports nothing.
//! Test code is skipped: it may import anything.
//!
//! The reader of the sources knows modules, `use`, and paths. Methods, macros of textual scope, and
//! what a macro expands to are invisible to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Source;
use crate::tokens::{Token, tokens};

/// Maximum number of re-exports that are followed for one name.
const MAX_REEXPORTS: usize = 16;

/// Keywords that introduce an item with a name, besides `mod` and `use`.
const ITEM_KEYWORDS: [&str; 8] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static",
];

/// An import of one file by another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// Path of the importing file, from the folder of the crate's root.
    pub from: PathBuf,
    /// Path of the file that defines the item.
    pub to: PathBuf,
    /// Name of the imported item.
    pub name: String,
}

/// Finds the imports between the files of the crate whose root is `root`, a path among those of
/// `sources`.
///
/// # Panics
///
/// Panics if `root` is not among the sources.
#[must_use]
pub fn imports(sources: &[Source], root: &Path) -> BTreeSet<Import> {
    let mut tree = ModuleTree {
        texts: sources
            .iter()
            .map(|source| (source.path.as_path(), source.text.as_str()))
            .collect(),
        modules: BTreeMap::new(),
    };
    let folder = root
        .parent()
        .filter(|_| tree.texts.contains_key(root))
        .unwrap_or_else(|| panic!("{} is not among the sources", root.display()));
    tree.read_file(Vec::new(), root, folder);
    tree.imports(folder)
}

/// The names from the root of a crate to a module.
type ModulePath<'s> = Vec<&'s str>;

/// A name that a `use` introduces.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UsedName<'s> {
    /// The name in the module, or `*`.
    name: &'s str,
    path: Vec<&'s str>,
    is_public: bool,
}

/// A module and the names in it.
#[derive(Debug)]
struct Module<'s> {
    file: &'s Path,
    children: BTreeSet<&'s str>,
    items: BTreeSet<&'s str>,
    uses: Vec<UsedName<'s>>,
    /// Paths outside `use`.
    paths: Vec<Vec<&'s str>>,
    /// Identifiers outside `use`, without those behind a `.` or `::`.
    words: BTreeSet<&'s str>,
}

/// The meaning of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning<'s> {
    Module(ModulePath<'s>),
    /// The item with this name that the file defines.
    Item(&'s Path, &'s str),
    /// An item of another crate.
    Foreign,
}

/// The modules of a crate.
#[derive(Debug)]
struct ModuleTree<'s> {
    texts: BTreeMap<&'s Path, &'s str>,
    modules: BTreeMap<ModulePath<'s>, Module<'s>>,
}

impl<'s> ModuleTree<'s> {
    /// Reads the file of a module, and those of its children, which are in `folder`.
    fn read_file(&mut self, module: ModulePath<'s>, file: &Path, folder: &Path) {
        if let Some((file, text)) = self.texts.get_key_value(file) {
            let tokens = tokens(text);
            let mut reader = FileReader {
                tokens: &tokens,
                file,
            };
            reader.read_module(self, module, folder);
        }
    }

    /// Reads the file of a module that `parent` declares. `path` is that of its attribute, if it
    /// has one; otherwise the file is in `folder`.
    fn read_declared(
        &mut self,
        module: ModulePath<'s>,
        path: Option<&str>,
        parent: &Path,
        folder: &Path,
    ) {
        let own_folder = folder.join(module.last().copied().unwrap_or_default());
        let candidates = match path {
            Some(path) => vec![parent.with_file_name(path)],
            None => vec![own_folder.with_extension("rs"), own_folder.join("mod.rs")],
        };
        let known = candidates
            .iter()
            .find(|file| self.texts.contains_key(file.as_path()));
        if let Some(file) = known {
            let folder = match file.parent() {
                Some(folder) if file.ends_with("mod.rs") => folder,
                _ => &own_folder,
            };
            self.read_file(module, file, folder);
        }
    }

    /// Returns the imports, with paths from `folder`.
    fn imports(&self, folder: &Path) -> BTreeSet<Import> {
        let within = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_owned();
        let mut found = BTreeSet::new();
        for (path, module) in &self.modules {
            for meaning in self.meanings(path, module) {
                if let Meaning::Item(file, name) = meaning {
                    if file != module.file {
                        found.insert(Import {
                            from: within(module.file),
                            to: within(file),
                            name: name.to_owned(),
                        });
                    }
                }
            }
        }
        found
    }

    /// Returns the meanings of all names that a module imports, and of all its paths.
    fn meanings(&self, path: &[&'s str], module: &Module<'s>) -> Vec<Meaning<'s>> {
        let mut found = Vec::new();
        for used in &module.uses {
            let is_used = !used.is_public || module.words.contains(used.name);
            match self.resolve(path, &used.path, 0) {
                Some(Meaning::Module(of)) if used.name == "*" => {
                    let sees_private = path.starts_with(&of);
                    let of_word = |word| self.look_up(&of, word, true, sees_private, 0);
                    found.extend(module.words.iter().filter_map(|word| of_word(word)));
                }
                Some(meaning) if is_used => found.push(meaning),
                _ => {}
            }
        }
        let paths = module.paths.iter();
        found.extend(paths.filter_map(|other| self.resolve(path, other, 0)));
        found
    }

    /// Resolves a path in `module`. `depth` counts the re-exports that were followed.
    fn resolve(&self, module: &[&'s str], path: &[&'s str], depth: usize) -> Option<Meaning<'s>> {
        let mut at = module.to_vec();
        let mut is_own = false;
        let mut rest = path.iter();
        while let Some(name) = rest.next() {
            match *name {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop();
                }
                name => {
                    let is_last = rest.as_slice().is_empty();
                    match self.look_up(&at, name, is_last, true, depth) {
                        Some(Meaning::Module(next)) => at = next,
                        // A macro may define the item.
                        None if is_own => {
                            return Some(Meaning::Item(self.modules.get(&at)?.file, name));
                        }
                        meaning => return meaning,
                    }
                }
            }
            is_own = true;
        }
        Some(Meaning::Module(at))
    }

    /// Looks a name up in `module`: an item if it is the last one of a path, otherwise a module.
    /// `sees_private` says that names count that a private `use` has introduced.
    fn look_up(
        &self,
        module: &[&'s str],
        name: &'s str,
        is_last: bool,
        sees_private: bool,
        depth: usize,
    ) -> Option<Meaning<'s>> {
        let depth = depth.saturating_add(1);
        let within = self.modules.get(module).filter(|_| depth < MAX_REEXPORTS)?;
        let mut found = Vec::new();
        if within.items.contains(name) {
            found.push(Meaning::Item(within.file, name));
        }
        if within.children.contains(name) {
            let mut child = module.to_vec();
            child.push(name);
            found.push(Meaning::Module(child));
        }
        let uses = within.uses.iter();
        let uses = uses.filter(|used| used.is_public || sees_private);
        for used in uses.clone().filter(|used| used.name == name) {
            let meaning = self.resolve(module, &used.path, depth);
            found.push(meaning.unwrap_or(Meaning::Foreign));
        }
        if found.is_empty() {
            for used in uses.filter(|used| used.name == "*") {
                if let Some(Meaning::Module(of)) = self.resolve(module, &used.path, depth) {
                    let sees_private = module.starts_with(&of);
                    found.extend(self.look_up(&of, name, is_last, sees_private, depth));
                }
            }
        }
        let best = found
            .iter()
            .position(|meaning| matches!(meaning, Meaning::Module(_)) != is_last);
        (!found.is_empty()).then(|| found.swap_remove(best.unwrap_or(0)))
    }
}

/// The meaning of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute<'s> {
    /// Marks test code.
    Test,
    /// Names the file of a module.
    Path(&'s str),
    Other,
}

/// The reader of one file.
#[derive(Debug)]
struct FileReader<'t, 's> {
    /// Tokens that were not read yet.
    tokens: &'t [Token<'s>],
    file: &'s Path,
}

impl<'s> FileReader<'_, 's> {
    fn next(&mut self) -> Option<Token<'s>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    /// Takes the next token if it is `token`.
    fn take(&mut self, token: Token<'_>) -> bool {
        let is_next = self.tokens.first() == Some(&token);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Takes the next token if it is a word.
    fn take_word(&mut self) -> Option<&'s str> {
        match self.tokens.first() {
            Some(Token::Word(word)) => {
                self.next();
                Some(word)
            }
            _ => None,
        }
    }

    /// Takes the rest of a group whose opening was taken, and returns its tokens.
    fn take_group(&mut self) -> Vec<Token<'s>> {
        let mut group = Vec::new();
        let mut depth = 1_usize;
        while let Some(token) = self.next() {
            match token {
                Token::Mark('(' | '[' | '{') => depth = depth.saturating_add(1),
                Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            group.push(token);
        }
        group
    }

    /// Skips an item: up to its `;`, its body in braces, or the end of the group that it is in.
    fn skip_item(&mut self) {
        while let Some(token) = self.tokens.first() {
            if matches!(token, Token::Mark(')' | ']' | '}')) {
                return;
            }
            let token = *token;
            self.next();
            if matches!(token, Token::Mark('(' | '[' | '{')) {
                self.take_group();
            }
            if matches!(token, Token::Mark(';' | '{')) {
                return;
            }
        }
    }

    /// Reads the contents of a module, up to its closing brace. The files of its children are in
    /// `folder`.
    fn read_module(&mut self, tree: &mut ModuleTree<'s>, path: ModulePath<'s>, folder: &Path) {
        let mut module = Module {
            file: self.file,
            children: BTreeSet::new(),
            items: BTreeSet::new(),
            uses: Vec::new(),
            paths: Vec::new(),
            words: BTreeSet::new(),
        };
        let mut depth = 0_usize;
        let mut is_public = false;
        let mut file_of_child = None;
        let mut previous = Token::Mark(';');
        while let Some(token) = self.next() {
            match token {
                Token::Mark('#') => match self.read_attribute() {
                    Attribute::Test => self.skip_item(),
                    Attribute::Path(path) => file_of_child = Some(path),
                    Attribute::Other => {}
                },
                Token::Mark('}') if depth == 0 => break,
                Token::Mark('(' | '[' | '{') => depth = depth.saturating_add(1),
                Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Word("use") => self.read_use(Vec::new(), is_public, &mut module.uses),
                Token::Word("mod") if depth == 0 => {
                    if let Some(name) = self.take_word() {
                        module.children.insert(name);
                        let mut child = path.clone();
                        child.push(name);
                        if self.take(Token::Mark('{')) {
                            self.read_module(tree, child, &folder.join(name));
                        } else {
                            tree.read_declared(child, file_of_child, self.file, folder);
                        }
                    }
                    file_of_child = None;
                }
                Token::Word("macro_rules") => {
                    self.take(Token::Mark('!'));
                    module.items.extend(self.take_word());
                }
                Token::Word("pub") => self.skip_restriction(),
                // A part of a path that does not begin with a name, a field, or a method.
                Token::Word(_) if matches!(previous, Token::PathSeparator | Token::Mark('.')) => {}
                Token::Word(word) => self.read_word(word, depth == 0, previous, &mut module),
                _ => {}
            }
            is_public = token == Token::Word("pub");
            previous = token;
        }
        tree.modules.insert(path, module);
    }

    /// Skips the parentheses behind `pub`, if they restrict the visibility.
    fn skip_restriction(&mut self) {
        if let [
            Token::Mark('('),
            Token::Word("crate" | "super" | "self" | "in"),
            ..,
        ] = self.tokens
        {
            self.next();
            self.take_group();
        }
    }

    /// Reads an item's keyword, or the path that begins with `word`.
    fn read_word(
        &mut self,
        word: &'s str,
        is_item: bool,
        previous: Token<'_>,
        module: &mut Module<'s>,
    ) {
        // The name of a definition is no use of it.
        if !matches!(previous, Token::Word(keyword) if ITEM_KEYWORDS.contains(&keyword)) {
            module.words.insert(word);
        }
        let mut path = vec![word];
        while let [Token::PathSeparator, Token::Word(next), ..] = self.tokens {
            path.push(next);
            self.next();
            self.next();
        }
        if path.len() > 1 {
            module.paths.push(path);
            return;
        }
        // A parameter `const N` is no item.
        let is_parameter = matches!(previous, Token::Mark('<' | ','));
        if is_item && !is_parameter && ITEM_KEYWORDS.contains(&word) {
            match self.tokens.first() {
                // A `const fn`.
                Some(Token::Word("fn" | "unsafe" | "async" | "extern")) => {}
                Some(Token::Word(name)) => {
                    module.items.insert(name);
                }
                _ => {}
            }
        }
    }

    /// Reads an attribute whose `#` was taken.
    fn read_attribute(&mut self) -> Attribute<'s> {
        self.take(Token::Mark('!'));
        if !self.take(Token::Mark('[')) {
            return Attribute::Other;
        }
        match self.take_group().as_slice() {
            [Token::Word("path"), Token::Mark('='), Token::Text(path)] => Attribute::Path(path),
            [
                Token::Word("cfg"),
                Token::Mark('('),
                Token::Word("test" | "doctest"),
                ..,
            ]
            | [
                Token::Word("cfg"),
                Token::Mark('('),
                Token::Word("all"),
                Token::Mark('('),
                Token::Word("test"),
                ..,
            ] => Attribute::Test,
            _ => Attribute::Other,
        }
    }

    /// Reads a part of a `use`, which continues `path`, with its `;` or `,`.
    fn read_use(&mut self, mut path: Vec<&'s str>, is_public: bool, found: &mut Vec<UsedName<'s>>) {
        if self.take(Token::PathSeparator) {
            // No module has this name, so the path is foreign.
            path.push("");
        }
        let mut name = None;
        while let Some(token) = self.next() {
            match token {
                Token::Word("as") => name = self.take_word(),
                Token::Word("self") if !path.is_empty() => name = path.last().copied(),
                Token::Word(word) => {
                    path.push(word);
                    name = Some(word);
                }
                Token::PathSeparator => name = None,
                Token::Mark('*') => name = Some("*"),
                Token::Mark('{') => {
                    while !self.take(Token::Mark('}')) && !self.tokens.is_empty() {
                        self.read_use(path.clone(), is_public, found);
                    }
                }
                Token::Mark(',' | ';') => break,
                _ => {}
            }
            // The end of the group that this part is in.
            if self.tokens.first() == Some(&Token::Mark('}')) {
                break;
            }
        }
        if let Some(name) = name {
            found.push(UsedName {
                name,
                path,
                is_public,
            });
        }
    }
}
