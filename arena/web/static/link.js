// The connection of a seat's page with the arena: a stream of events says when there is a new state, and the state is asked
// for. So nothing that was missed without a connection needs to be told again.
"use strict";

const RETRY_MS = 2000;

class Link {
  // `page` has path(), where the state is to be had, update(answer), and lost(), which tells whether that is for good.
  constructor(page) {
    this.page = page;
    hearEvents("events", "state", () => this.hear(), () => this.lose());
  }

  hear() {
    this.isOpen = true;
    return this.load();
  }

  lose() {
    this.isOpen = false;
    return this.page.lost() ? "over" : "";
  }

  async load() {
    this.again = this.isBusy;
    if (this.isBusy) return;
    this.isBusy = true;
    const answer = await fetch(this.page.path()).then((found) => found.ok && found.json()).catch(() => null);
    this.isBusy = false;
    if (answer) this.page.update(answer);
    else if (!this.page.lost()) setTimeout(() => this.load(), RETRY_MS);
    if (this.again) await this.load();
  }

  // Gives why the arena has refused what was sent: its words, or the key of a text of the page.
  async send(what, body = {}) {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(what, options).catch(() => null);
    return !answer ? "not_sent" : !answer.ok ? "failed" : (await answer.json()).refused;
  }
}
