import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena). */
public final class Bot {
    private static final String NAME = "{{name}}";
    private static final String AUTHOR = "{{author}}";
    private static final int HOME_SQUARES = 40;

    private final List<String> legal = new ArrayList<>();
    private final Random random = new Random();
    /** One letter a piece. */
    private String army = "";

    /**
     * Your bot's thinking goes here.
     *
     * <p>{@code legal} holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole
     * board before each turn, too, ask for it ("want legal board" below) and read the line "board", which has 100 cells
     * from a1 to j10. What happened since the last turn is in the lines "moved", "battle" and "reveal".
     */
    private String choose() {
        return legal.get(random.nextInt(legal.size()));
    }

    /**
     * Where the army stands: ten letters a row, the back row first, files a to j, '.' for an empty square. Here it is
     * shuffled.
     */
    private String setUp() {
        List<String> cells = Arrays.asList((army + ".".repeat(HOME_SQUARES - army.length())).split(""));
        Collections.shuffle(cells, random);
        String rows = String.join("", cells);
        return String.join(
                "/", rows.substring(0, 10), rows.substring(10, 20), rows.substring(20, 30), rows.substring(30));
    }

    /** What the bot answers to one line of the arena; nothing, to most of them. */
    private String answer(String line) {
        String[] fields = line.split(" ");
        switch (fields[0]) {
            case "hello":
                return "name " + NAME + "\nauthor " + AUTHOR + "\nwant legal\nready\n";
            case "rule":
                if (fields[1].equals("army")) {
                    army = pieces(Arrays.asList(fields).subList(2, fields.length));
                }
                return "";
            case "seed":
                random.setSeed(Long.parseLong(fields[1]));
                return "";
            case "setup":
                return "setup " + setUp() + "\n";
            case "legal": // a long list comes in several lines
                legal.addAll(Arrays.asList(fields).subList(1, fields.length));
                return "";
            case "turn":
                String action = choose();
                legal.clear();
                return "move " + action + "\n";
            default: // may be ignored, and what a later arena adds must be
                return "";
        }
    }

    /** The pieces of fields such as "B:6", a letter each. */
    private static String pieces(List<String> fields) {
        StringBuilder letters = new StringBuilder();
        for (String field : fields) {
            letters.append(field.substring(0, 1).repeat(Integer.parseInt(field.substring(2))));
        }
        return letters.toString();
    }

    public static void main(String[] arguments) throws IOException {
        Bot bot = new Bot();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        String line = lines.readLine();
        while (line != null && !line.split(" ")[0].equals("quit")) {
            System.out.print(bot.answer(line));
            System.out.flush();
            line = lines.readLine();
        }
    }
}
