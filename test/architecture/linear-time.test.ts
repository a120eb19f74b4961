/**
 * Checks that parsing untrusted text takes linear time; a regular expression or loop was once quadratic
 * (rules/http#overload).
 */
import { describe, expect, it } from '@jest/globals';
import { emailKey } from '#libs/infrastructure/text';
import { createMessagingHtml, toVisibleText } from '../../services/agents/messaging-html.ts';
import { splitByTokens } from '../../services/agents/publishing-summary/rules.ts';
import { slugOf } from '../../services/directory/holons/slugs.ts';
import { readProviderTime } from '../../services/transcripts/row-filter.ts';

/** A script of the console pages, without types. */
const script = new URL('../../services/api-gateway/console-page/plain-text.js', import.meta.url);
const { toPlainText } = (await import(script.href)) as { toPlainText: (rich: string) => string };
const { renderUnfinished } = createMessagingHtml();
const start = 0n as Parameters<typeof readProviderTime>[1];

/** The operation, the repeated text, and the number of repetitions. */
const cases: readonly (readonly [what: string, work: (text: string) => unknown, piece: string, pieces?: number])[] = [
  ['rich text of the console', toPlainText, '<a'],
  ['rich text of the console', toPlainText, '</p '],
  ['visible text of messages', toVisibleText, '<'],
  ['unfinished tables', (text) => renderUnfinished(`|${text}\n|${'-|'.repeat(text.length / 2)}`), 'a|', 500],
  ['parts of a transcript without line breaks', (text) => splitByTokens(text, 1_000), 'a'],
  ['parts of a transcript of line breaks', (text) => splitByTokens(text, 1_000), '\n'],
  ['domains of dots', (text) => emailKey(`ada@${text}a`), '.'],
  ['slugs of dashes', (text) => slugOf(`a${text}a`), '-'],
  ['times of the meeting provider', (text) => readProviderTime(`${text}x`, start), '1'],
  ['times of the meeting provider', (text) => readProviderTime(`${text}x`, start), ' '],
];
const factor = 8;

/**
 * Returns the lowest CPU time in microseconds of several runs, because other activity of the process can only add time.
 */
function costOf(work: (text: string) => unknown, text: string): number {
  const costs = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    work(text);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...costs);
}

describe('processing of text from outside', () => {
  it.each(cases)('%s: processes %# in linear time', (_what, work, piece, pieces = 20_000) => {
    const small = costOf(work, piece.repeat(pieces));
    const large = costOf(work, piece.repeat(pieces * factor));
    // The ratio is 8 for linear and 64 for quadratic time. Below one millisecond the comparison would be too imprecise.
    expect(large / Math.max(small, 1_000)).toBeLessThan(factor * 4);
  });
});
