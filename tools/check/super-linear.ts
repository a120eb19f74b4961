/** Whether the time of a regular expression can grow faster than the text that it is given. */
import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { Chars, toUnicodeSet, type ReadonlyFlags } from 'regexp-ast-analysis';
import { analyse } from 'scslre';

export interface Expression {
  readonly source: string;
  readonly flags: string;
}

type CharSet = ReturnType<typeof toUnicodeSet>;

/** What is wrong, in words; undefined for an expression that is linear as far as is known. */
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
 * `/<[a-z][^>]*>/`: an attempt that fails has read on over places where the next attempts begin. Single characters in a row are known to the library;
 * this looks at prefixes of several characters that the first loop behind them takes as well.
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

/** Groups of one alternative are what is in them. */
function flatten(elements: readonly AST.Element[]): AST.Element[] {
  return elements.flatMap((element) => {
    const isGroup = element.type === 'Group' || element.type === 'CapturingGroup';
    const [only, ...others] = isGroup ? element.alternatives : [];
    return only !== undefined && others.length === 0 ? flatten(only.elements) : [element];
  });
}

function findLoopOverPrefix(elements: readonly AST.Element[], flags: ReadonlyFlags): AST.Quantifier | undefined {
  const [start] = elements;
  if (start?.type === 'Assertion' && start.kind !== 'word') return undefined; // an anchor, or what stands before is looked at
  const prefix: CharSet[] = [];
  for (const [index, element] of elements.entries()) {
    if (element.type === 'Assertion') continue;
    const repeated = element.type === 'Quantifier' ? element.element : element;
    if (repeated.type !== 'Character' && repeated.type !== 'CharacterSet' && repeated.type !== 'CharacterClass') return undefined;
    const set = toUnicodeSet(repeated, flags);
    const min = element.type === 'Quantifier' ? element.min : 1;
    if (element.type === 'Quantifier' && element.max === Infinity && canFail(elements.slice(index + 1))) {
      const isWithinWord = start?.type === 'Assertion' && set.isSubsetOf(Chars.word(flags)); // no attempt begins within a word
      if (prefix.length > 0 && !isWithinWord && prefix.every((one) => !one.isDisjointWith(set))) return element;
    }
    if (min > 0) prefix.push(set);
  }
  return undefined;
}

/** Something must follow. */
function canFail(elements: readonly AST.Element[]): boolean {
  return elements.some((element) => element.type !== 'Quantifier' || element.min > 0);
}
