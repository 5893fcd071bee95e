//! {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena).

use std::io::{self, BufRead, Write};

const NAME: &str = "{{name}}";
const AUTHOR: &str = "{{author}}";
const HOME_SQUARES: usize = 40;

#[derive(Default)]
struct Bot {
    army: Vec<char>,
    legal: Vec<String>,
    random: Random,
}

impl Bot {
    /// Your bot's thinking goes here.
    ///
    /// `self.legal` holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole board
    /// before each turn, too, ask for it ("want legal board" below) and read the line "board", which has 100 cells from
    /// a1 to j10. What happened since the last turn is in the lines "moved", "battle" and "reveal".
    fn choose(&mut self) -> String {
        let index = self.random.below(self.legal.len());
        self.legal[index].clone()
    }

    /// Where the army stands: ten letters a row, the back row first, files a to j, '.' for an empty square. Here it is
    /// shuffled.
    fn set_up(&mut self) -> String {
        let mut cells = self.army.clone();
        cells.resize(HOME_SQUARES, '.');
        for last in (1..cells.len()).rev() {
            cells.swap(last, self.random.below(last + 1));
        }
        let rows: Vec<String> = cells.chunks(10).map(|row| row.iter().collect()).collect();
        rows.join("/")
    }

    /// What the bot answers to one line of the arena; nothing, to most of them.
    fn answer(&mut self, line: &str) -> Option<String> {
        let mut fields = line.split_whitespace();
        match fields.next()? {
            "hello" => return Some(format!("name {NAME}\nauthor {AUTHOR}\nwant legal\nready")),
            "rule" if fields.next() == Some("army") => {
                self.army = fields.flat_map(pieces).collect()
            }
            "seed" => self.random = Random(fields.next()?.parse().ok()?),
            "setup" => return Some(format!("setup {}", self.set_up())),
            "legal" => self.legal.extend(fields.map(String::from)), // a long list comes in several lines
            "turn" => {
                let action = self.choose();
                self.legal.clear();
                return Some(format!("move {action}"));
            }
            _ => {} // may be ignored, and what a later arena adds must be
        }
        None
    }
}

/// The pieces of a field such as "B:6", a letter each.
fn pieces(field: &str) -> Vec<char> {
    let (letter, count) = field.split_once(':').unwrap_or((field, "0"));
    letter.repeat(count.parse().unwrap_or(0)).chars().collect()
}

/// SplitMix64: the same seed gives the same game again.
#[derive(Default)]
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit as u64) as usize
    }
}

fn main() -> io::Result<()> {
    let mut bot = Bot::default();
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.split(' ').next() == Some("quit") {
            break;
        }
        if let Some(answer) = bot.answer(&line) {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Bot {
        let mut bot = Bot::default();
        for line in lines {
            assert_eq!(bot.answer(line), None);
        }
        bot
    }

    #[test]
    fn it_introduces_itself_and_wants_its_legal_actions() {
        let answer = Bot::default().answer("hello 1").unwrap();
        assert!(answer.contains("want legal"));
        assert!(answer.ends_with("ready"));
    }

    #[test]
    fn it_sets_up_the_army_of_the_rules() {
        let mut bot = told(&[
            "game red barrage",
            "rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1",
            "seed 7",
        ]);
        let answer = bot.answer("setup").unwrap();
        let rows: Vec<&str> = answer.strip_prefix("setup ").unwrap().split('/').collect();
        assert_eq!(
            rows.iter().map(|row| row.len()).collect::<Vec<_>>(),
            [10, 10, 10, 10]
        );
        let mut letters: Vec<char> = rows.concat().replace('.', "").chars().collect();
        letters.sort_unstable();
        assert_eq!(letters.iter().collect::<String>(), "2239BFMS");
    }

    #[test]
    fn it_plays_one_of_the_actions_of_this_turn() {
        let mut bot = told(&[
            "a verb that it does not know",
            "legal a4-a5 b4-b5",
            "legal c4-c5",
        ]);
        let answer = bot.answer("turn 1 1000 1000").unwrap();
        assert!(["move a4-a5", "move b4-b5", "move c4-c5"].contains(&answer.as_str()));
        bot.answer("legal d4-d5");
        assert_eq!(bot.answer("turn 3 1000 1000").unwrap(), "move d4-d5");
    }
}
