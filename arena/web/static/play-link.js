// The connection with the arena: a stream of events that says when there is a new state, and the state, which is asked for
// whole. So what was missed while there was no connection needs not be told again.

const RETRY_MS = 2000;

export class Link {
  // `on` has path(), where the state is to be had, state(answer), and lost(), which tells whether that is for good.
  constructor(say, on) {
    this.say = say;
    this.on = on;
    this.busy = false;
    this.again = false;
    this.isOpen = false; // whether the arena tells of new states; one that was asked for before that ended may come later
    this.open();
  }

  open() {
    const events = new EventSource("events");
    events.addEventListener("open", () => {
      this.isOpen = true;
      this.load();
    });
    events.addEventListener("state", () => this.load());
    events.addEventListener("error", () => {
      this.isOpen = false;
      if (this.on.lost()) {
        events.close();
        return;
      }
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.open(), RETRY_MS);
    });
  }

  async load() {
    this.again = this.busy;
    if (this.busy) return;
    this.busy = true;
    const answer = await this.ask();
    this.busy = false;
    if (answer) this.on.state(answer);
    else if (!this.on.lost()) this.retry();
    if (this.again) await this.load();
  }

  // The state, or what else is at a path; null if it was not to be had.
  async ask(path = this.on.path()) {
    try {
      const answer = await fetch(path);
      return answer.ok ? await answer.json() : null;
    } catch {
      return null;
    }
  }

  retry() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), RETRY_MS);
  }

  // Gives why the arena has refused what was sent, or null.
  async send(what, body = {}) {
    try {
      const answer = await fetch(what, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!answer.ok) return this.say("failed", { status: answer.status });
      return (await answer.json()).refused ?? null;
    } catch {
      this.on.lost();
      return this.say("not_sent");
    }
  }
}
