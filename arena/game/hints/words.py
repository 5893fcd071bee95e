"""How things are called in an author's language."""

from collections.abc import Mapping

from arena.game.hints.values import Language

WANT_LEGAL = "'want legal' before 'ready' has its legal actions sent before each 'turn'"
"""What a bot is told that has not asked for its legal actions."""

FLUSH: Mapping[Language, str] = {
    Language.PYTHON: "print(..., flush=True)",
    Language.C: "fflush(stdout) after each answer, or setvbuf(stdout, NULL, _IOLBF, 0) at the start",
    Language.CPP: "std::cout << answer << std::endl, or << std::flush",
    Language.RUST: "std::io::stdout().flush() after each answer",
    Language.GO: "Flush() of the bufio.Writer after each answer",
    Language.JAVA: "System.out.flush() after each answer, or new PrintWriter(System.out, true)",
    Language.JAVASCRIPT: "process.stdout.write(answer + '\\n') at once, for each answer",
    Language.SHELL: "stdbuf -oL before the program that prints, or its own option (sed -u, awk's fflush())",
    Language.UNKNOWN: "flush standard output after each answer",
}
"""How an answer is brought out of the program's own buffer."""

DEBUG: Mapping[Language, str] = {
    Language.PYTHON: "print(..., file=sys.stderr)",
    Language.C: "fprintf(stderr, ...)",
    Language.CPP: "std::cerr << ...",
    Language.RUST: "eprintln!(...)",
    Language.GO: "fmt.Fprintln(os.Stderr, ...)",
    Language.JAVA: "System.err.println(...)",
    Language.JAVASCRIPT: "console.error(...)",
    Language.SHELL: "echo ... >&2",
    Language.UNKNOWN: "a print to standard error",
}
"""How something is printed that is not for the arena."""

READ: Mapping[Language, str] = {
    Language.PYTHON: "sys.stdin.readline()",
    Language.C: "fgets(line, sizeof line, stdin)",
    Language.CPP: "std::getline(std::cin, line)",
    Language.RUST: "stdin().read_line(&mut line)",
    Language.GO: "scanner.Scan()",
    Language.JAVA: "reader.readLine()",
    Language.JAVASCRIPT: "readline's 'line' event",
    Language.SHELL: "read -r line",
    Language.UNKNOWN: "with a call that returns at each line end",
}
"""How one line is read."""

NEWLINE: Mapping[Language, str] = {
    Language.PYTHON: "print(answer, flush=True), or write(answer + '\\n')",
    Language.C: 'printf("move %s\\n", action)',
    Language.CPP: "std::cout << answer << std::endl",
    Language.RUST: "println!, not print!",
    Language.GO: "fmt.Println, not fmt.Print",
    Language.JAVA: "println, not print",
    Language.JAVASCRIPT: "process.stdout.write(answer + '\\n')",
    Language.SHELL: "printf '%s\\n', or echo without -n",
    Language.UNKNOWN: "write \\n after each answer",
}
"""How a line is ended."""
