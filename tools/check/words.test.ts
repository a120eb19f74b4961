import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { repoDir } from './commands.ts';
import { findProblems, readVocabulary } from './words.ts';

const vocabulary = readVocabulary(`
## Words that we do not use

### Names

| not | but |
|---|---|
| tell, news | emit |
| most… | max… |
| left | remaining |
| \`once\` | a store |

### Sentences

| not | but |
|---|---|
| for good, is no | permanently |
| Who may | the role |
`);
const findIn = (text: string, file = 'libs/a/b.ts'): string[] => findProblems(file, text, vocabulary);

describe('the check of words (docs/glossary.md)', () => {
  it.each([
    ['a part of a name', 'const tellHolder = 1;', 'libs/a/b.ts:1: tellHolder: "tell": use emit'],
    ['a private member', 'class A { #news = 1; }', 'libs/a/b.ts:1: news: "news": use emit'],
    ['a parameter', 'function f({ a: { b: news } }: T) {}', 'libs/a/b.ts:1: news: "news": use emit'],
    ['a property of a type', 'interface A { readonly tell: 1 }', 'libs/a/b.ts:1: tell: "tell": use emit'],
    ['a prefix', 'let mostRows = 1;', 'libs/a/b.ts:1: mostRows: "most": use max…'],
    ['a whole name', 'function once() {}', 'libs/a/b.ts:1: once: use a store'],
    [
      'a log message',
      'logger.info({ a: 1 }, "drops keys for good");',
      'libs/a/b.ts:1: "drops keys for good": "for good": use permanently',
    ],
    [
      'an error message',
      'throw new AppError("x", `${a} is no number`);',
      'libs/a/b.ts:1: "is no number": "is no": use permanently',
    ],
  ])('rejects an unwanted word in %s', (_place, text, problem) => {
    expect(findIn(text)).toEqual([problem]);
  });

  it.each([
    'const teller = 1;',
    'const onceMore = 1, almost = 2;',
    'const { tell } = other;',
    'interface Row { news_at: Date }',
    'export const compare = (left: string, right: string) => 0;',
    'const sql = "for good measure";',
    'throw new Error("There is no job, it is no longer there");',
  ])('accepts %s', (text) => {
    expect(findIn(text)).toEqual([]);
  });

  it('reads the tables of the glossary', () => {
    const { parts, names, phrases } = readVocabulary(readFileSync(join(repoDir, 'docs', 'glossary.md'), 'utf8'));
    expect([...parts.keys()]).toEqual(expect.arrayContaining(['invitee', 'janitor', 'told']));
    expect([...names.keys()]).toContain('createGate');
    expect([...phrases.keys()]).toContain('for good');
  });

  it('checks the words of file names', () => {
    expect(findIn('', 'libs/a/feed-news.ts')).toEqual(['libs/a/feed-news.ts:1: feed_news: "news": use emit']);
  });

  it('checks every sentence of a contract, and a capital letter only at the start of a sentence', () => {
    expect(findIn('const a = { summary: "Who may read" };', 'services/a/contract.ts')).toHaveLength(1);
    expect(findIn('const a = { summary: "An account who may read" };', 'services/a/contract.ts')).toEqual([]);
  });
});
