/** Finds environment variables that are probably misspelled settings, which would otherwise be ignored. */

/** Minimum length of a checked name; shorter names are similar to too many other names. */
const shortestName = 6;

/** @returns one line per variable that is probably a misspelled setting */
export function findMisspellings(names: Iterable<string>, known: ReadonlySet<string>): string[] {
  return [...names]
    .filter((name) => name.length >= shortestName && !known.has(name))
    .flatMap((name) => {
      const meant = findMeant(name, known);
      return meant === undefined ? [] : [`${name} is not a setting and is ignored. Did you mean ${meant}?`];
    });
}

function findMeant(name: string, known: ReadonlySet<string>): string | undefined {
  const candidates = [...known].filter((candidate) => candidate.length >= shortestName);
  const bare = withoutSeparators(name);
  return (
    candidates.find((candidate) => withoutSeparators(candidate) === bare) ??
    candidates.find((candidate) => candidate.startsWith(`${name}_`) && name.includes('_')) ??
    candidates.find((candidate) => isAlike(name, candidate))
  );
}

const withoutSeparators = (name: string): string => name.replaceAll(/[_.-]/g, '').toUpperCase();

/**
 * Returns true when the names differ by at most one typo, or two in long names. The first word or the first three
 * characters must be equal, to exclude variables of other programs.
 */
function isAlike(name: string, candidate: string): boolean {
  if (name.split('_')[0] !== candidate.split('_')[0] && name.slice(0, 3) !== candidate.slice(0, 3)) return false;
  const most = candidate.length < 12 ? 1 : 2;
  return Math.abs(name.length - candidate.length) <= most && countSlips(name, candidate) <= most;
}

/** Returns the edit distance, in which a transposition counts as one edit. */
function countSlips(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      const ways = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + change];
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) ways.push((before[j - 2] ?? 0) + 1);
      row.push(Math.min(...ways));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
