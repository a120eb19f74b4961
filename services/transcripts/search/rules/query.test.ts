import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findHighlights, parseQuery, toTsquery } from './query.ts';

const query = (text: string): string | undefined => toTsquery(parseQuery(text));
const marks = (parsedQuery: string, text: string): string[] | undefined =>
  findHighlights(parseQuery(parsedQuery), text)?.map(([from, to]) => text.slice(from, to));

describe('search queries of users (T2, T6)', () => {
  it.each([
    ['budget', `('budget')`],
    ['Größe  été', `('grosse') & ('ete')`],
    ['"next steps" plan', `('next' <-> 'steps') & ('plan')`],
    ['“nächste Schritte”', `('nachste' <-> 'schritte')`],
    ['«deux mots» „zwei Worte“', `('deux' <-> 'mots') & ('zwei' <-> 'worte')`],
    ['plan -draft -"old one"', `('plan') & !('draft') & !('old' <-> 'one')`],
    ['haus*', `('haus':*)`],
    ['"open cir*"', `('open' <-> 'cir':*)`],
    ['"open cir"*', `('open' <-> 'cir':*)`],
    ['well-known', `('well' <-> 'known')`],
    ["don't", `('don' <-> 't')`],
    ['a AND b or c', `('a') & ('and') & ('b') & ('or') & ('c')`],
    ['"not closed', `('not' <-> 'closed')`],
    ['plan --draft', `('plan') & !('draft')`],
    ['a & b | !c <-> (d)', `('a') & ('b') & ('c') & ('d')`],
    [`x' \\ y`, `('x') & ('y')`],
    ['會議 notes', `('會' <-> '議') & ('notes')`],
    ['-draft', undefined],
    ['* - "" & !', undefined],
    ['  ', undefined],
  ])('converts the query %j to %j', (text, expected) => {
    expect(query(text)).toBe(expected);
  });

  it('generates only quoted words, for any query', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(query(text) ?? '').toMatch(
          /^(?:!?\('[\p{L}\p{N}\p{M}]+'(?::\*)?(?: <-> '[\p{L}\p{N}\p{M}]+'(?::\*)?)*\)(?: & )?)*$/u,
        );
      }),
    );
  });
});

describe('highlights (T6)', () => {
  it.each([
    ['budget', 'The Budget, our BUDGET.', ['Budget', 'BUDGET']],
    ['ete grosse', 'L’été in Größe', ['été', 'Größe']],
    ['strasse dunger', 'Straße, DUNGER', ['Straße', 'DUNGER']],
    ["d'unger yilmaz", 'Yılmaz D’Unger', ['Yılmaz', 'D', 'Unger']],
    ['"the plan"', 'the, plan; the other plan', ['the', 'plan']],
    ['haus*', 'Haushalt und Hausboot im Rathaus', ['Haushalt', 'Hausboot']],
    ['plan -draft', 'the plan', ['plan']],
    ['plan -draft', 'the draft plan', undefined],
    ['plan budget', 'the plan', undefined],
    ['plan', 'planning', undefined],
    ['"plan the"', 'the plan', undefined],
    ['smile', '👍👍 smile', ['smile']],
  ])('highlights for the query %j in %j the words %j', (parsedQuery, text, expected) => {
    expect(marks(parsedQuery, text)).toEqual(expected);
  });

  it('returns half-open ranges in UTF-16 units', () => {
    expect(findHighlights(parseQuery('smile'), '👍 smile!')).toEqual([[3, 8]]);
  });
});
