/** Long texts in parts that fit into a budget of estimated tokens. */
import { estimateTokens } from '../../tokens.ts';

/** Parts at line ends where there are some, else anywhere; together they are the text. */
export function splitByTokens(text: string, budget: number): string[] {
  const parts: string[] = [];
  let part = '';
  let tokens = 0;
  for (const piece of splitLines(text, budget)) {
    const cost = estimateTokens(piece);
    if (part !== '' && tokens + cost > budget) {
      parts.push(part);
      part = '';
      tokens = 0;
    }
    part += piece;
    tokens += cost;
  }
  return part === '' ? parts : [...parts, part];
}

/** Lines with their ends; longer ones than the budget in pieces that surely fit. */
function* splitLines(text: string, budget: number): Generator<string> {
  // No character costs more than three tokens. Half of one is none: servers of models refuse a request with it.
  const piece = new RegExp(`.{1,${Math.max(1, Math.floor(budget / 3))}}`, 'gsu');
  for (const line of text.match(/[^\n]+\n?|\n/g) ?? []) {
    if (estimateTokens(line) <= budget) yield line;
    else yield* line.match(piece) ?? [];
  }
}

/** Texts in groups that fit into the budget, at least two in each but the last, so that fewer come out than went in. */
export function groupByTokens(texts: readonly string[], budget: number): string[][] {
  const groups: string[][] = [];
  let tokens = 0;
  for (const text of texts) {
    const cost = estimateTokens(text) + 4;
    const group = groups.at(-1);
    if (group === undefined || (group.length >= 2 && tokens + cost > budget)) {
      groups.push([text]);
      tokens = cost;
    } else {
      group.push(text);
      tokens += cost;
    }
  }
  return groups;
}
