// {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena).

#include <algorithm>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::string name = "{{name}}";
const std::string author = "{{author}}";

constexpr std::size_t home_squares = 40;

class Bot {
public:
    // What the bot answers to one line of the arena; nothing, to most of them.
    std::string answer(const std::string &line)
    {
        std::istringstream fields(line);
        std::string verb;
        fields >> verb;
        if (verb == "hello")
            return "name " + name + "\nauthor " + author + "\nwant legal\nready\n";
        if (verb == "rule")
            read_rule(fields);
        else if (verb == "seed")
            read_seed(fields);
        else if (verb == "setup")
            return "setup " + set_up() + "\n";
        else if (verb == "legal")
            for (std::string action; fields >> action;)
                legal.push_back(action); // a long list comes in several lines
        else if (verb == "turn")
            return "move " + move() + "\n";
        return ""; // all else may be ignored, and what a later arena adds must be
    }

private:
    std::string army; // one letter a piece
    std::vector<std::string> legal;
    std::mt19937 random;

    // Your bot's thinking goes here.
    //
    // `legal` holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole board
    // before each turn, too, ask for it ("want legal board" above) and read the line "board", which has 100 cells from
    // a1 to j10. What happened since the last turn is in the lines "moved", "battle" and "reveal".
    std::string choose()
    {
        return legal[random() % legal.size()];
    }

    // Where the army stands: ten letters a row, the back row first, files a to j, '.' for an empty square. Here it is
    // shuffled.
    std::string set_up()
    {
        std::string cells = army;
        cells.resize(home_squares, '.');
        std::shuffle(cells.begin(), cells.end(), random);
        return cells.substr(0, 10) + "/" + cells.substr(10, 10) + "/" + cells.substr(20, 10) + "/" + cells.substr(30);
    }

    std::string move()
    {
        const std::string action = choose();
        legal.clear();
        return action;
    }

    void read_rule(std::istringstream &fields)
    {
        std::string rule;
        if (!(fields >> rule) || rule != "army")
            return;
        army.clear();
        for (std::string field; fields >> field;) // such as B:6
            army.append(std::stoul(field.substr(2)), field[0]);
    }

    void read_seed(std::istringstream &fields)
    {
        std::mt19937::result_type seed = 0;
        fields >> seed;
        random.seed(seed);
    }
};

} // namespace

int main()
{
    Bot bot;
    for (std::string line; std::getline(std::cin, line) && line.substr(0, line.find(' ')) != "quit";)
        std::cout << bot.answer(line) << std::flush;
}
