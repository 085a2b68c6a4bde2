//! Parts that the command lines of the programs share: colours, completions for shells, and manual
//! pages. Not part of the interface of the library.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Arg, ArgAction, ColorChoice, Command, CommandFactory, FromArgMatches, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;

/// Names of the options that print completions and the manual page.
const COMPLETIONS: &str = "completions";
const MANUAL: &str = "man";

/// True if the text of the standard output, and that of the standard error output, is coloured.
static COLOURS: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// The option `--color`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Color {
    /// When to use colours.
    #[arg(
        long = "color",
        global = true,
        value_name = "WHEN",
        default_value = "auto"
    )]
    when: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

impl Color {
    /// Returns true if text that is printed to this stream is to be coloured.
    #[must_use]
    pub fn applies_to(self, stream: &impl IsTerminal) -> bool {
        match self.when {
            When::Auto => {
                let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                stream.is_terminal() && !unwanted
            }
            When::Always => true,
            When::Never => false,
        }
    }

    /// Sets the colours of [`title`] and [`name_of_program`].
    pub fn set(self) {
        let [output, errors] = &COLOURS;
        output.store(self.applies_to(&io::stdout()), Ordering::Relaxed);
        errors.store(self.applies_to(&io::stderr()), Ordering::Relaxed);
    }
}

/// Returns a title, or another text that stands out, for the standard output.
#[must_use]
pub fn title(text: &str) -> Cow<'_, str> {
    painted(&COLOURS[0], "1", text)
}

/// Returns the name of the program, as it opens a message on the standard error output.
#[must_use]
pub fn name_of_program(name: &str) -> Cow<'_, str> {
    painted(&COLOURS[1], "1;31", name)
}

fn painted<'t>(colours: &AtomicBool, code: &str, text: &'t str) -> Cow<'t, str> {
    match colours.load(Ordering::Relaxed) {
        true => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
        false => Cow::Borrowed(text),
    }
}

/// Parses the words of a command line, the first of which is the program. If they ask for
/// completions, for the manual page or for help, or are invalid, prints this and exits. `whole`
/// returns the command with everything that completions and the manual page include.
#[must_use]
pub fn parse<P: CommandFactory + FromArgMatches>(
    words: Vec<OsString>,
    whole: impl Fn(Command) -> Command,
) -> P {
    let command = with_pages(P::command()).color(color(&words));
    let first = words.get(1).and_then(|word| word.to_str());
    let is_page = first.is_some_and(|word| {
        let name = word.split('=').next();
        name.and_then(|name| name.strip_prefix("--"))
            .is_some_and(|name| name == COMPLETIONS || name == MANUAL)
    });
    if is_page {
        // The required arguments of the program are missing then.
        let only = with_pages(Command::new("page").bin_name(command.get_name().to_owned()));
        let matches = only.color(color(&words)).get_matches_from(&words);
        print_page(&matches, whole(command));
    }
    let matches = command.clone().get_matches_from(words);
    if matches.get_flag(MANUAL) || matches.contains_id(COMPLETIONS) {
        print_page(&matches, whole(command));
    }
    P::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Adds the options that print completions and the manual page.
#[must_use]
pub fn with_pages(command: Command) -> Command {
    let completions = Arg::new(COMPLETIONS)
        .long(COMPLETIONS)
        .value_name("SHELL")
        .value_parser(clap::value_parser!(Shell))
        .help("Print completions for a shell, and exit");
    let manual = Arg::new(MANUAL)
        .long(MANUAL)
        .action(ArgAction::SetTrue)
        .help("Print the manual page (roff), and exit");
    command.args([completions, manual])
}

/// Returns the colour choice of the help and of errors of the command line, which are printed
/// before the words are parsed.
fn color(words: &[OsString]) -> ColorChoice {
    let mut words = words.iter().map(|word| word.to_str().unwrap_or_default());
    let mut chosen = None;
    while let Some(word) = words.next().filter(|word| *word != "--") {
        match word.split_once('=') {
            Some(("--color", when)) => chosen = Some(when),
            None if word == "--color" => chosen = words.next(),
            _ => {}
        }
    }
    match chosen.and_then(|when| When::from_str(when, false).ok()) {
        Some(When::Always) => ColorChoice::Always,
        Some(When::Never) => ColorChoice::Never,
        Some(When::Auto) | None => ColorChoice::Auto,
    }
}

/// Prints completions or the manual page, and exits.
fn print_page(matches: &clap::ArgMatches, mut command: Command) -> ! {
    let mut page = Vec::new();
    let written = match matches.get_one::<Shell>(COMPLETIONS) {
        Some(shell) => {
            let name = command.get_name().to_owned();
            clap_complete::generate(*shell, &mut command, name, &mut page);
            Ok(())
        }
        None => manual(&mut command, &mut page),
    };
    let printed = written.and_then(|()| io::stdout().write_all(&page));
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "the page can't be printed: {error}");
            exit(1)
        }
        _ => exit(0),
    }
}

/// Writes the manual page of a command, followed by those of its subcommands.
fn manual(command: &mut Command, to: &mut dyn Write) -> io::Result<()> {
    command.build();
    Man::new(command.clone()).render(to)?;
    let parts = command.get_subcommands();
    for part in parts.filter(|part| part.get_name() != "help" && !part.is_hide_set()) {
        Man::new(part.clone()).render(to)?;
    }
    Ok(())
}
