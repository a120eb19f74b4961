/** Finds regular expressions whose time can grow faster than the length of the text. */
import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { Chars, toUnicodeSet, type ReadonlyFlags } from 'regexp-ast-analysis';
import { analyse } from 'scslre';

export interface Expression {
  readonly source: string;
  readonly flags: string;
}

type CharSet = ReturnType<typeof toUnicodeSet>;

/** @returns a description of the problem, or undefined when none is found */
export function findSuperLinear({ source, flags }: Expression): string | undefined {
  const { reports } = analyse({ source, flags }, { assumeRejectingSuffix: false });
  const [first] = reports;
  if (first === undefined) return findRestart({ source, flags });
  const { pick } = first.character;
  const text = JSON.stringify(pick);
  if (first.type === 'Move') return `is tried from each character of a run of ${text}`;
  return `backtracks ${first.exponential ? 'exponentially' : 'within itself'} in a run of ${text}`;
}

/**
 * Finds loops such as `/<[a-z][^>]*>/`, in which a failed attempt reads text that contains the starts of the next
 * attempts, so that the text is read repeatedly. The library detects loops that start with a single character; this
 * function detects longer prefixes that the first loop also matches.
 */
function findRestart({ source, flags }: Expression): string | undefined {
  const known: ReadonlyFlags = {
    ignoreCase: flags.includes('i'),
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
    dotAll: flags.includes('s'),
  };
  if (flags.includes('y')) return undefined;
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: known.unicode === true,
    unicodeSets: known.unicodeSets === true,
  });
  for (const { elements } of pattern.alternatives) {
    const loop = findLoopOverPrefix(flatten(elements), known);
    if (loop !== undefined) return `reads ${loop.raw} again from each place where its beginning stands within that`;
  }
  return undefined;
}

/** Replaces groups that have only one alternative with their elements. */
function flatten(elements: readonly AST.Element[]): AST.Element[] {
  return elements.flatMap((element) => {
    const isGroup = element.type === 'Group' || element.type === 'CapturingGroup';
    const [only, ...others] = isGroup ? element.alternatives : [];
    return only !== undefined && others.length === 0 ? flatten(only.elements) : [element];
  });
}

function findLoopOverPrefix(elements: readonly AST.Element[], flags: ReadonlyFlags): AST.Quantifier | undefined {
  const [start] = elements;
  if (start?.type === 'Assertion' && start.kind !== 'word') return undefined; // the pattern starts with an anchor or a lookbehind
  const prefix: CharSet[] = [];
  for (const [index, element] of elements.entries()) {
    if (element.type === 'Assertion') continue;
    const repeated = element.type === 'Quantifier' ? element.element : element;
    if (repeated.type !== 'Character' && repeated.type !== 'CharacterSet' && repeated.type !== 'CharacterClass')
      return undefined;
    const set = toUnicodeSet(repeated, flags);
    const min = element.type === 'Quantifier' ? element.min : 1;
    if (element.type === 'Quantifier' && element.max === Infinity && canFail(elements.slice(index + 1))) {
      const isWithinWord = start?.type === 'Assertion' && set.isSubsetOf(Chars.word(flags)); // a word boundary before the pattern prevents an attempt from starting within a word
      if (prefix.length > 0 && !isWithinWord && prefix.every((one) => !one.isDisjointWith(set))) return element;
    }
    if (min > 0) prefix.push(set);
  }
  return undefined;
}

/** Returns true when at least one element is required, so that the remaining pattern can fail to match. */
function canFail(elements: readonly AST.Element[]): boolean {
  return elements.some((element) => element.type !== 'Quantifier' || element.min > 0);
}
