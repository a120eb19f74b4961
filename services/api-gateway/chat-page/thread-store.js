/** Data stored on this device: the thread with an agent (all tabs, until it is restarted) and the draft (this tab). */

/**
 * @typedef {object} Turn one message and its reply, as the API returned them
 * @property {string} human_html
 * @property {string} agent_html
 * @property {string} created_at
 * @property {string} [stopped_html] part of the reply that was visible when the visitor stopped it
 * @property {boolean} [fresh] true when the server had deleted the visitor's thread, and this turn started a new one
 * @property {'person'} [waits_for] an operator has taken over: this reply is only a notice, the operator's reply
 * follows
 */
/**
 * @typedef {object} Words a message of an operator, instead of the agent
 * @property {string} operator_html
 * @property {string} created_at
 */
/**
 * @typedef {object} Thread
 * @property {string | null} visitorId
 * @property {(Turn | Words)[]} turns
 * @property {number} seen position of the last included operator message: `after` of the next request for operator
 * messages
 */
/**
 * @typedef {object} Draft
 * @property {string} text
 * @property {boolean} sending true while the reply is pending
 * @property {string} name idempotency key of a message that was sent and may have arrived; `""` when none was sent
 */

/** Older turns are removed from this device and not displayed. This does not affect the agent's memory. */
const maxTurns = 200;

/** @param {string} agent slug */
export function createThreadStore(agent) {
  const key = `coherence-chat:${agent}`;
  const storage = createMemory(() => localStorage);
  const ofTab = createMemory(() => sessionStorage);
  /** @param {string} visitorId @param {readonly (Turn | Words)[]} all @param {number} seen */
  const keep = (visitorId, all, seen) => {
    const turns = all.slice(-maxTurns);
    // Browsers store only a few MB for each site: removes the oldest turns until the rest fits.
    while (!storage.write(key, JSON.stringify({ visitorId, turns, seen })) && turns.length > 1)
      turns.splice(0, Math.ceil(turns.length / 2));
  };
  return {
    /** @returns {Thread} */
    readThread() {
      const { visitorId, turns, seen } = parseObject(storage.read(key));
      return {
        visitorId: typeof visitorId === 'string' ? visitorId : null,
        turns: Array.isArray(turns) ? turns.filter((entry) => isTurn(entry) || isWords(entry)) : [],
        seen: typeof seen === 'number' ? seen : 0,
      };
    },
    /**
     * Adds a turn and preserves what other tabs have added.
     * @param {string} visitorId
     * @param {Turn} turn
     */
    addTurn(visitorId, turn) {
      const thread = this.readThread();
      keep(visitorId, [...thread.turns, turn], visitorId === thread.visitorId ? thread.seen : 0);
    },
    /**
     * Adds operator messages once; another tab may already have added them.
     * @param {{ visitorId: string, after: number }} asked
     * @param {{ words: readonly Words[], next: number }} found
     * @returns {boolean} false when they were already added, or the thread has changed
     */
    addWords({ visitorId, after }, { words, next }) {
      const thread = this.readThread();
      if (thread.visitorId !== visitorId || thread.seen !== after || next === after) return false;
      keep(visitorId, [...thread.turns, ...words], next);
      return true;
    },
    forgetThread() {
      storage.remove(key);
    },
    /** @returns {Draft} */
    readDraft() {
      const { text, sending, name } = parseObject(ofTab.read(key));
      return {
        text: typeof text === 'string' ? text : '',
        sending: sending === true,
        name: typeof name === 'string' ? name : '',
      };
    },
    /** @param {Draft} draft */
    writeDraft(draft) {
      if (draft.text === '') ofTab.remove(key);
      else ofTab.write(key, JSON.stringify(draft));
    },
    /** @param {() => void} listener called when another tab has changed the thread */
    onThreadChange(listener) {
      addEventListener('storage', (event) => {
        if (event.key === key || event.key === null) listener();
      });
    },
  };
}

/**
 * Returns a storage that uses memory until the page is closed when the browser's storage is blocked or full.
 * @param {() => Storage} open
 */
function createMemory(open) {
  /** @type {Map<string, string>} */
  const unsaved = new Map();
  return {
    /** @param {string} key */
    read(key) {
      try {
        return unsaved.get(key) ?? open().getItem(key);
      } catch {
        return null;
      }
    },
    /**
     * @param {string} key
     * @param {string} value
     */
    write(key, value) {
      try {
        open().setItem(key, value);
        unsaved.delete(key);
        return true;
      } catch {
        unsaved.set(key, value);
        return false;
      }
    },
    /** @param {string} key */
    remove(key) {
      unsaved.delete(key);
      try {
        open().removeItem(key);
      } catch {
        // The browser's storage is blocked, so it contains no value.
      }
    },
  };
}

/**
 * @param {string | null} text
 * @returns {Record<string, unknown>}
 */
function parseObject(text) {
  try {
    const value = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * @param {unknown} value
 * @returns {value is Turn}
 */
export function isTurn(value) {
  const { human_html, agent_html, created_at, stopped_html = '' } = /** @type {Partial<Turn>} */ (value ?? {});
  return [human_html, agent_html, created_at, stopped_html].every((field) => typeof field === 'string');
}

/**
 * @param {unknown} value
 * @returns {value is Words}
 */
export function isWords(value) {
  const { operator_html, created_at } = /** @type {Partial<Words>} */ (value ?? {});
  return [operator_html, created_at].every((field) => typeof field === 'string');
}
