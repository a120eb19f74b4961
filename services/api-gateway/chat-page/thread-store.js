/** What this device keeps: the thread with an agent (all tabs, until it is started over) and the text being written (this tab). */

/**
 * @typedef {object} Turn one message and its reply, as the API returned them
 * @property {string} human_html
 * @property {string} agent_html
 * @property {string} created_at
 * @property {boolean} [fresh] true when the agent did not know the thread before it
 */
/**
 * @typedef {object} Thread
 * @property {string | null} visitorId
 * @property {Turn[]} turns
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
  return {
    /** @returns {Thread} */
    readThread() {
      const { visitorId, turns } = parseObject(kept.read(key));
      return {
        visitorId: typeof visitorId === 'string' ? visitorId : null,
        turns: Array.isArray(turns) ? turns.filter(isTurn) : [],
      };
    },
    /**
     * What other tabs have added since stays.
     * @param {string} visitorId
     * @param {Turn} turn
     */
    addTurn(visitorId, turn) {
      const turns = [...this.readThread().turns, turn].slice(-maxTurns);
      // Browsers keep a few MB for a site: the oldest turns make room.
      while (!kept.write(key, JSON.stringify({ visitorId, turns })) && turns.length > 1) turns.splice(0, Math.ceil(turns.length / 2));
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
  const { human_html, agent_html, created_at } = /** @type {Partial<Turn>} */ (value ?? {});
  return [human_html, agent_html, created_at].every((field) => typeof field === 'string');
}
