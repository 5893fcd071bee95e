import { createInterface } from "node:readline";
import { Bot } from "./bot.js";

const bot = new Bot();
for await (const line of createInterface({ input: process.stdin })) {
  if (line.split(" ")[0] === "quit") process.exit();
  const answer = bot.answer(line);
  if (answer !== undefined) process.stdout.write(`${answer}\n`);
}
