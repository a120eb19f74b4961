/** Bulk actions: shows the count, then asks for confirmation, then shows the result (P3, P4, P6). */
import { call, CallFailure } from './calls.js';
import { toFigure } from './language.js';
import { Missing } from './live.js';
import { Command, Dialog, refusalOf } from './parts.js';
import { useAge } from './times.js';
import { html, useEffect, useState } from './ui.js';

/** @typedef {{ matched: number, changed: number, failed: number, missing: readonly string[] }} Counts */
/** @typedef {{ waiting: number, dead: number }} Progress `waiting`: queued or running */
/**
 * @typedef {object} Act
 * @property {string} verb of the button, e.g. `Redrive`
 * @property {string} noun singular; an `s` is added for the plural
 * @property {string} done state of the changed items, e.g. `queued again`
 * @property {string} explanation
 * @property {string} path
 * @property {Readonly<Record<string, unknown>>} choice `{filter}` or `{ids}`
 * @property {readonly string[] | undefined} command equivalent arguments of the admin CLI, if it supports the action
 * @property {() => Promise<Progress>} [readProgress] counts of waiting and dead items, from which the outcome is
 * derived
 */

/** The server needs at most a minute. */
const timeoutMs = 90_000;
const pollIntervalMs = 2_000;

/** @param {{ act: Act, onClose: () => void, onDone: () => void }} properties */
export function ActOnAll({ act, onClose, onDone }) {
  const [counted, setCounted] = useState(/** @type {Counts | undefined} */ (undefined));
  const [result, setResult] = useState(/** @type {Counts | undefined} */ (undefined));
  const [since, setSince] = useState(0);
  const [failure, setFailure] = useState('');
  const { verb, path, choice } = act;

  /** @param {boolean} isDry @param {(counts: Counts) => void} keep */
  const send = async (isDry, keep) => {
    setFailure('');
    try {
      keep(await call('POST', path, { body: { ...choice, ...(isDry ? { dry_run: true } : {}) }, timeoutMs }));
    } catch (error) {
      setFailure(
        error instanceof CallFailure ? refusalOf(error) : 'Something went wrong. Reload the page and try again.',
      );
    }
  };
  useEffect(() => void send(true, setCounted), []);
  const work = async () => {
    if (since !== 0) return;
    setSince(Date.now());
    await send(false, (counts) => {
      setResult(counts);
      onDone();
    });
    setSince(0);
  };

  const isConfirming = counted !== undefined && counted.matched > 0 && result === undefined;
  return html`<${Dialog} title=${`${verb} all that match?`} onClose=${onClose}>
    <p>${act.explanation}</p>
    <div role="status">
      ${
        result === undefined
          ? html`<p>${describeCount(act, counted, failure)}</p>`
          : html`<p><strong>${describeResult(act, result)}</strong></p>`
      }
      ${since === 0 ? null : html`<${Working} since=${since} />`}
    </div>
    <${Outcome} act=${act} changed=${result?.changed ?? 0} />
    <${Missing}
      names=${(result ?? counted)?.missing}
      what=${result === undefined ? 'Their items are not counted.' : 'Repeat the action once they answer. It does not change finished items again.'}
    />
    <p class="failure" role="alert">${failure}</p>
    <p class="buttons">
      ${
        isConfirming
          ? html`<button type="button" aria-disabled=${String(since !== 0)} onClick=${work}>
              ${verb} ${count(counted.matched, act.noun)}
            </button>`
          : null
      }
      <button type="button" class="quiet" onClick=${onClose}>Close</button>
    </p>
    <${Command} words=${act.command} />
  <//>`;
}

/**
 * @param {Act} act
 * @param {Counts | undefined} counted
 * @param {string} failure
 */
function describeCount({ noun }, counted, failure) {
  if (counted === undefined) return failure === '' ? 'Counting…' : '';
  return counted.matched === 0
    ? 'No matching items can be changed.'
    : `${count(counted.matched, noun)} will be changed.`;
}

/**
 * @param {Act} act
 * @param {Counts} result
 */
function describeResult({ noun, done }, { matched, changed, failed, missing }) {
  // Without a match, another operator may have changed the items between the count and the action.
  if (matched === 0 && missing.length > 0) return 'Nothing was changed.';
  if (matched === 0) return 'No items were left to change. Another operator has changed them already.';
  return `${count(changed, noun)} ${done}${failed === 0 ? '' : `, ${toFigure(failed)} not`}.`;
}

/** @param {number} number @param {string} noun */
function count(number, noun) {
  return `${toFigure(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** @param {{ since: number }} properties */
function Working({ since }) {
  return html`<p>
    <progress aria-label="Working"></progress> <span aria-hidden="true">started ${useAge(since)}</span>
  </p>`;
}

/**
 * Shows the outcome while the dialog is open. Workers do not report single items, so the outcome is derived from the
 * change of the counts since the confirmation.
 * @param {{ act: Act, changed: number }} properties `changed` is 0 before the action
 */
function Outcome({ act: { readProgress }, changed }) {
  const [before, setBefore] = useState(/** @type {Progress | undefined} */ (undefined));
  const [now, setNow] = useState(/** @type {Progress | undefined} */ (undefined));
  const [isStale, setStale] = useState(false);
  useEffect(() => void readProgress?.().then(setBefore, () => undefined), []);
  useEffect(() => {
    if (changed === 0 || readProgress === undefined) return undefined;
    let timer = 0;
    const poll = async () => {
      const found = await readProgress().catch(() => undefined);
      setStale(found === undefined);
      if (found !== undefined) setNow(found);
      timer = setTimeout(poll, pollIntervalMs);
    };
    void poll();
    return () => clearTimeout(timer);
  }, [changed]);
  if (changed === 0 || before === undefined || now === undefined) return null;
  const failed = between(0, now.dead - (before.dead - changed), changed);
  const waiting = between(0, now.waiting - before.waiting, changed - failed);
  const succeeded = changed - failed - waiting;
  const ended = `${toFigure(succeeded)} succeeded, ${toFigure(failed)} failed again`;
  return html`<p>
    <progress aria-label="Succeeded" max=${changed} value=${succeeded}></progress>
    ${' '}${waiting === 0 ? `${toFigure(changed)} finished: ${ended}.` : `${toFigure(waiting)} waiting, ${ended}.`}${isStale ? ' (Counts may be out of date.)' : ''}
  </p>`;
}

/** @param {number} least @param {number} value @param {number} most */
function between(least, value, most) {
  return Math.max(least, Math.min(value, most));
}
