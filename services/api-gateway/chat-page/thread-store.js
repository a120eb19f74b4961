/** What this device keeps: the thread with an agent (all tabs, until it is started over) and the text being written (this tab). */

/**
 * @typedef {object} Turn one message and its reply, as the API returned them
 * @property {string} human_html
 * @property {string} agent_html
 * @property {string} created_at
 * @property {string} [stopped_html] what was shown of the reply when the visitor stopped it
 * @property {boolean} [fresh] true when the agent did not know the thread before it
 * @property {'person'} [waits_for] a person has the conversation: the reply is no more than that, and theirs will come
 */
/**
 * @typedef {object} Words what a person wrote in the place of the agent
 * @property {string} operator_html
 * @property {string} created_at
 */
/**
 * @typedef {object} Thread
 * @property {string | null} visitorId
 * @property {(Turn | Words)[]} turns
 * @property {number} seen how far a person's words are among them: `after` of the next question for them
 */
/**
 * @typedef {object} Draft
 * @property {string} text
 * @property {boolean} sending true while its reply is awaited
 * @property {string} name of the message that was sent and may have arrived; `""` = none
 */

/** Older turns are no longer shown; the agent's memory is its own. */
const maxTurns = 200;

/** @param {string} agent slug */
export function createThreadStore(agent) {
  const key = `coherence-chat:${agent}`;
  const kept = createMemory(() => localStorage);
  const ofTab = createMemory(() => sessionStorage);
  /** @param {string} visitorId @param {readonly (Turn | Words)[]} all @param {number} seen */
  const keep = (visitorId, all, seen) => {
    const turns = all.slice(-maxTurns);
    // Browsers keep a few MB for a site: the oldest turns make room.
    while (!kept.write(key, JSON.stringify({ visitorId, turns, seen })) && turns.length > 1) turns.splice(0, Math.ceil(turns.length / 2));
  };
  return {
    /** @returns {Thread} */
    readThread() {
      const { visitorId, turns, seen } = parseObject(kept.read(key));
      return {
        visitorId: typeof visitorId === 'string' ? visitorId : null,
        turns: Array.isArray(turns) ? turns.filter((entry) => isTurn(entry) || isWords(entry)) : [],
        seen: typeof seen === 'number' ? seen : 0,
      };
    },
    /**
     * What other tabs have added since stays.
     * @param {string} visitorId
     * @param {Turn} turn
     */
    addTurn(visitorId, turn) {
      const thread = this.readThread();
      keep(visitorId, [...thread.turns, turn], visitorId === thread.visitorId ? thread.seen : 0);
    },
    /**
     * What a person wrote, once: another tab may have found it too.
     * @param {{ visitorId: string, after: number }} asked
     * @param {{ words: readonly Words[], next: number }} found
     * @returns {boolean} false when it was there already, or the thread is another now
     */
    addWords({ visitorId, after }, { words, next }) {
      const thread = this.readThread();
      if (thread.visitorId !== visitorId || thread.seen !== after || next === after) return false;
      keep(visitorId, [...thread.turns, ...words], next);
      return true;
    },
    forgetThread() {
      kept.remove(key);
    },
    /** @returns {Draft} */
    readDraft() {
      const { text, sending, name } = parseObject(ofTab.read(key));
      return { text: typeof text === 'string' ? text : '', sending: sending === true, name: typeof name === 'string' ? name : '' };
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
 * A storage that may be forbidden or full; the page then remembers until it is closed.
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
        // Nothing was kept.
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
