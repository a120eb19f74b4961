/** Lists all violations in a run, each with the requests that prove it. */
import { describeEntry, type Entry } from '../history.ts';
import { checkEffects } from './effects.ts';
import { checkObject } from './linearizable.ts';
import { modelOf } from './models.ts';

export interface Problem {
  readonly what: 'lost' | 'doubled' | 'wrong';
  readonly text: string;
  /** Minimal history that shows the violation. */
  readonly entries: readonly Entry[];
}

/** State after the platform has become idle. */
export interface Facts {
  /** Object name of the requests that trigger an effect → keys of the effects that exist, one entry per effect. */
  readonly effects: Readonly<Record<string, readonly string[]>>;
  /** Lines of leftovers in an idle platform: unfinished jobs, unsent messages, objects without a record. */
  readonly leftovers: readonly string[];
}

export function checkHistory(entries: readonly Entry[], facts: Facts): Problem[] {
  return [
    ...checkObjectHistories(entries),
    ...Object.entries(facts.effects).flatMap(([object, found]) => checkKindEffects(object, entries, found)),
    ...checkRefusals(entries),
    ...checkErrors(entries),
    ...facts.leftovers.map((text): Problem => ({ what: 'wrong', text, entries: [] })),
  ];
}

function checkObjectHistories(entries: readonly Entry[]): Problem[] {
  return [...Map.groupBy(entries, ({ object }) => object)].flatMap(([object, some]): Problem[] => {
    const model = modelOf(object);
    if (model === undefined) return [];
    const verdict = checkObject(model, some);
    if (verdict.is === 'linearizable') return [];
    if (verdict.is === 'undecided')
      return [{ what: 'wrong', text: `${object}: too many possibilities to tell`, entries: [] }];
    const { shortest } = verdict;
    return [
      {
        what: checkKind(object, shortest),
        text: `${object} answered what one ${object.split(' ')[1]} cannot`,
        entries: shortest,
      },
    ];
  });
}

/**
 * Returns the type of a violation: a duplicate of an object that must be unique, a key that was counted twice, or else
 * lost data.
 */
function checkKind(object: string, shortest: readonly Entry[]): Problem['what'] {
  if (object.startsWith('singleton ')) return 'doubled';
  if (!object.startsWith('counter ')) return 'lost';
  const keys = new Set(shortest.flatMap(({ input }) => ('key' in input ? [input.key] : [])));
  return Math.max(...shortest.map(({ output }) => Number(output ?? 0))) > keys.size ? 'doubled' : 'lost';
}

function checkKindEffects(object: string, entries: readonly Entry[], found: readonly string[]): Problem[] {
  return checkEffects(object, entries, found).map(({ what, key, entries: requested }) => ({
    what: what === 'invented' ? 'wrong' : what,
    text: `${object} ${key} was ${what === 'invented' ? 'made, though nobody was told so' : what}`,
    entries: requested,
  }));
}

/** The load sends no request that may be rejected. */
function checkRefusals(entries: readonly Entry[]): Problem[] {
  return entries
    .filter(({ outcome }) => outcome === 'refused')
    .map((entry) => ({ what: 'wrong', text: `refused: ${entry.kind} of ${entry.object}`, entries: [entry] }));
}

/** Reports errors other than 503 and a missing answer, which are the only errors that faults may cause. */
function checkErrors(entries: readonly Entry[]): Problem[] {
  return entries
    .filter(({ outcome, answer }) => outcome === 'unknown' && /^5(?!03)\d\d\b/.test(answer))
    .map((entry) => ({
      what: 'wrong',
      text: `answered with an error: ${entry.kind} of ${entry.object}`,
      entries: [entry],
    }));
}

export function describeProblem({ what, text, entries }: Problem): string {
  return [`${what}: ${text}`, ...entries.map((entry) => `    ${describeEntry(entry)}`)].join('\n');
}
