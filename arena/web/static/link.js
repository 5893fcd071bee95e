// The connection of a seat's page with the arena: a stream of events says when there is a new state, and the state is asked
// for. So nothing that was missed without a connection needs to be told again.
"use strict";

const RETRY_MS = 2000;

class Link {
  // `on` has path(), where the state is to be had, state(answer), and lost(), which tells whether that is for good.
  constructor(on) {
    this.on = on;
    this.isOpen = false;
    this.open();
  }

  open() {
    const events = new EventSource("events");
    events.addEventListener("open", () => { this.isOpen = true; this.load(); });
    events.addEventListener("state", () => this.load());
    events.addEventListener("error", () => {
      this.isOpen = false;
      if (this.on.lost()) events.close();
      else if (events.readyState === EventSource.CLOSED) setTimeout(() => this.open(), RETRY_MS);
    });
  }

  async load() {
    this.again = this.busy;
    if (this.busy) return;
    this.busy = true;
    const answer = await fetch(this.on.path()).then((found) => (found.ok ? found.json() : null)).catch(() => null);
    this.busy = false;
    if (answer) this.on.state(answer);
    else if (!this.on.lost()) setTimeout(() => this.load(), RETRY_MS);
    if (this.again) await this.load();
  }

  // Gives why the arena has refused what was sent: its words, or the key of a text of the page; null if it was taken.
  async send(what, body = {}) {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(what, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => null);
    if (!answer) this.on.lost();
    return !answer ? "not_sent" : answer.ok ? ((await answer.json()).refused ?? null) : "failed";
  }
}
