import assert from "node:assert/strict";
import test from "node:test";
import { Bot } from "./bot.js";

/** A bot that has been told these lines, to none of which it may answer. */
function told(...lines) {
  const bot = new Bot();
  for (const line of lines) assert.equal(bot.answer(line), undefined);
  return bot;
}

test("it introduces itself and wants its legal actions", () => {
  assert.match(new Bot().answer("hello 1"), /^want legal\nready$/m);
});

test("it sets up the army of the rules", () => {
  const bot = told("game red barrage", "rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1", "seed 7");
  const answer = bot.answer("setup");
  assert.match(answer, /^setup (.{10}\/){3}.{10}$/);
  const letters = answer.replace(/^setup |[./]/g, "");
  assert.equal([...letters].sort().join(""), "2239BFMS");
});

test("it plays one of the actions of this turn", () => {
  const bot = told("", "a verb that it does not know", "legal a4-a5 b4-b5", "legal c4-c5");
  assert.match(bot.answer("turn 1 1000 1000"), /^move [abc]4-[abc]5$/);
  bot.answer("legal d4-d5");
  assert.equal(bot.answer("turn 3 1000 1000"), "move d4-d5");
});
