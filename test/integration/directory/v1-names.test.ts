/**
 * Names in lists and search: the same order everywhere, independent of the database locale, and Greek names
 * (rules/people#people; D42, D47).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';
import { fold } from '#libs/infrastructure/text';
import { directory } from '#services/directory';
import { Migration20260404090000_release_0_1_0 } from '../../../services/directory/migrations/Migration20260404090000_release_0_1_0.ts';
import { Migration20261130100000_one_folding } from '../../../services/directory/migrations/Migration20261130100000_one_folding.ts';
import { Migration20261128090000_folded_names } from '../../../services/directory/migrations/Migration20261128090000_folded_names.ts';
import { startReadsFixture, names, type ReadsFixture } from './reads-fixture.ts';

const { listPeople, listHolons, listHolonMemberships, listPersonMemberships, listJourneys, searchDirectory } =
  directory.rpcs;
/** The expected order: case and accents are ignored, and equal names are ordered by id. */
const inOrder = ['zz ada', 'ZZ bob', 'zz Émile', 'zz emile', 'zz Zoe'];
const greek = 'ΟΣΜΗ ΚΟΣΜΑΣ';

let fixture: ReadsFixture;
let ids: Awaited<ReturnType<ReadsFixture['apply']>>['ids'];
beforeAll(async () => {
  fixture = await startReadsFixture(import.meta.url);
  const shuffled = [4, 2, 1, 3, 0].map((index) => inOrder[index] ?? '');
  const kept = { name: 'Greek', description: `Knows ${greek}.` };
  ({ ids } = await fixture.apply({
    people: [
      ...shuffled.map((name, index) => ({ key: `zz${index}`, name })),
      { key: 'greek', ...kept, name: greek, contact: { nick: greek } },
    ],
    journeys: shuffled.map((name, index) => ({ slug: `zz-${index}`, name, steps: [{ slug: 'in', title: 'In' }] })),
    classes: [{ slug: 'choir', label: 'Choir', plural_label: 'Choirs' }],
    holons: [
      ...shuffled.map((name, index) => ({ slug: `zz-${index}`, name, class: 'choir' })),
      { slug: 'greek', ...kept, class: 'choir' },
    ],
    memberships: shuffled.flatMap((_name, index) => [
      { key: `same-journey-${index}`, person: `zz${index}`, holon: 'greek', journey: 'zz-0', step: 'in' },
      { key: `same-person-${index}`, person: 'greek', holon: `zz-${index}`, journey: 'zz-0', step: 'in' },
      { key: `same-holon-${index}`, person: 'greek', holon: 'greek', journey: `zz-${index}`, step: 'in' },
    ]),
  }));
});
afterAll(() => fixture.stop());

const root = () => fixture.actors['root'];
const people = async (q: string) => names(await fixture.call(listPeople, { q }, root()));
const holons = async (q: string) => names(await fixture.call(listHolons, { q, class: 'choir' }, root()));
const found = async (q: string) =>
  (await fixture.call(searchDirectory, { q, types: 'person,holon', limit_per_type: 10 }, root())).items.map((item) =>
    item.kind === 'person' ? item.person.name : item.holon.name,
  );

async function runAll(statements: readonly string[]): Promise<void> {
  for (const sql of statements) await fixture.env.sql(sql);
}
type MigrationKind = new (driver: never, config: never) => { up(): void; getQueries(): unknown[] };
function statementsOf(kind: MigrationKind): string[] {
  const migration = new kind(undefined as never, undefined as never);
  migration.up();
  if (!(migration instanceof OnlineMigration)) return migration.getQueries().map(String);
  return migration.steps.map(({ sql }) => sql.replaceAll('$1', '0').replaceAll('$2', '2147483647'));
}
/** Returns the statements that replace the current functions with the functions of an earlier release. */
function foldsOf(...kinds: readonly MigrationKind[]): string[] {
  const made = kinds.flatMap(statementsOf).filter((sql) => /create (or replace )?function directory\.fold/.test(sql));
  expect(made.length).toBeGreaterThanOrEqual(2);
  return made.map((sql) => sql.replace('create function', 'create or replace function'));
}

describe('order of lists by name', () => {
  it('lists people, holons and journeys in the same order by name', async () => {
    expect(await people('zz ')).toEqual(inOrder);
    expect(await holons('zz ')).toEqual(inOrder);
    expect(names(await fixture.call(listJourneys, { q: 'zz ' }, root()))).toEqual(inOrder);
  });

  it('sorts memberships by journey name, then by the name of the person or holon', async () => {
    const holonId = ids['holons']?.['greek'] ?? 0;
    const ofHolon = async (sort: string) =>
      (await fixture.call(listHolonMemberships, { holon_id: holonId, sort }, root())).items;
    const shown = (await ofHolon('name')).map(({ journey_name: journey, person }) => [journey, person.name]);
    const wanted = inOrder.flatMap((name) =>
      name === 'zz Zoe' ? [...inOrder, greek].map((person) => [name, person]) : [[name, greek]],
    );
    expect(shown).toEqual(wanted);
    expect((await ofHolon('-name')).map(({ journey_name: journey, person }) => [journey, person.name])).toEqual(
      shown.toReversed(),
    );
    const { items } = await fixture.call(
      listPersonMemberships,
      { person_id: ids['people']?.['greek'] ?? 0, limit: 200 },
      root(),
    );
    expect(items.filter(({ journey_name: journey }) => journey === 'zz Zoe').map(({ holon }) => holon.name)).toEqual([
      'Greek',
      ...inOrder,
    ]);
  });
});

describe('searching names, emails and phone numbers as folded text (D87)', () => {
  const written = [
    'Doris D’Unger',
    'Łukasz Żak',
    'Hauptstraße Ω',
    'Yılmaz Øster',
    'Æsa Þór',
    'Li\u00a0\u2009Wu',
    'Anna\u2011Lena',
    'Zero\u200cWidth',
    'Rene\u0301 Œuvre',
  ] as const;
  const contact = { email: 'mailto:Doris.U@Bücher.example.', phone: '+49 (0)30 123-456' };
  beforeAll(() =>
    fixture.apply({
      people: written.map((name, index) => ({ key: `fold${index}`, name, ...(index === 0 && { contact }) })),
    }),
  );

  const [unger, lukasz, street, yilmaz, aesa, li, anna, zero, rene] = written;
  it.each([
    ["D'Unger", unger],
    ['d‘unger', unger],
    ['d´unger', unger],
    ['dʼunger', unger],
    ['unger doris', unger],
    ['Unger, Doris', unger],
    ['D’UNGER DORIS', unger],
    ['lukasz', lukasz],
    ['ŁUKASZ', lukasz],
    ['Zak Lukasz', lukasz],
    ['hauptstrasse', street],
    ['HAUPTSTRASSE', street],
    ['HAUPTSTRAẞE', street],
    ['YILMAZ', yilmaz],
    ['YİLMAZ', yilmaz],
    ['yılmaz', yilmaz],
    ['oster yilmaz', yilmaz],
    ['aesa', aesa],
    ['thor aesa', aesa],
    ['li wu', li],
    ['wu li', li],
    ['Wu   Li', li],
    ['li\u3000wu', li],
    ['anna-lena', anna],
    ['zerowidth', zero],
    ['oeuvre rené', rene],
  ])('the text %s finds the name %s', async (q, name) => {
    expect([await people(q), await found(q)]).toEqual([[name], [name]]);
  });

  it.each([
    'doris.u@bücher.example',
    'DORIS.U@xn--bcher-kva.example',
    'mailto:doris.u@bücher.example',
    'doris.u@bu\u0308cher.example.',
    'Doris.U@b',
    'doris.u@xn--bc',
    '+49 30 123456',
    '004930123',
    '+49 (30) 1',
    'tel:+49-30-123456',
    'TEL:+49 (0)30 123-456',
    '+49\u00a030\u2011123',
    '＋４９３０１２３',
    'mailto:doris.u@b%C3%BCcher.example',
  ])('the text %s finds a person by email or phone number', async (q) => {
    expect(await people(q)).toEqual(q === 'Doris.U@b' ? [] : [unger]);
    expect(await found(q)).toEqual([unger]);
  });

  it.each(['30 123', 'oris.u@', 'D 49', 'unger ris', '49'])(
    'the text %s, which starts neither an address nor words of a name, finds no person',
    async (q) => expect(await people(q)).toEqual([]),
  );

  it('folds each character identically in the database and in the process', async () => {
    const sent = [0x20, 0x3000, 0xf900, 0xfb00, 0x1_0000, 0x1_d400].flatMap((start) =>
      Array.from({ length: start === 0x20 ? 0x2fe0 : 0x500 }, (_value, index) => start + index),
    );
    // Excludes line breaks, which are not folded, and letters that the Unicode tables of PostgreSQL do not contain yet.
    const rows = await fixture.env.sql<{ code: number; folded: string; start: string }>(
      `select code, directory.fold('a' || chr(code) || 'b') as folded, directory.fold_start('a' || chr(code) || 'b', 100) as start
       from unnest($1::integer[]) as code where code <> 10 and code not between 7296 and 7359 and code <> 11311`,
      [sent],
    );
    const wrong = rows.filter(
      ({ code, folded, start }) => folded !== fold(`a${String.fromCodePoint(code)}b`) || start !== folded,
    );
    expect(wrong.map(({ code, folded }) => [code.toString(16), folded])).toEqual([]);
  });

  it('finds names and addresses whose folded text an earlier release stored', async () => {
    await runAll(foldsOf(Migration20260404090000_release_0_1_0, Migration20261128090000_folded_names));
    await runAll(
      ['people', 'holons'].map(
        (table) => `update directory.${table} set name = name || ' ', description = description || ' '`,
      ),
    );
    await runAll(
      ['people', 'holons'].map(
        (table) => `update directory.${table} set name = rtrim(name), description = rtrim(description)`,
      ),
    );
    expect(await people('hauptstrasse')).toEqual([]);
    await runAll(
      statementsOf(Migration20261130100000_one_folding).filter((sql) => !/create (function|index)/.test(sql)),
    );
    for (const q of ["d'unger", 'd´unger', 'hauptstrasse', 'yilmaz', 'wu li', 'anna-lena'])
      expect([q, (await found(q)).length]).toEqual([q, 1]);
    const values = await fixture.env.sql('select * from directory.people_channel_values order by 1, 2');
    await runAll([
      'delete from directory.people_channel_values',
      `update directory.people set contact = contact || '{"again": "x"}'`,
    ]);
    await runAll([`update directory.people set contact = contact - 'again'`]);
    expect(await fixture.env.sql('select * from directory.people_channel_values order by 1, 2')).toEqual(values);
  });
});

describe('a Greek name', () => {
  const parts = ['ΟΣΜΗ', 'ΚΟΣΜΑΣ', 'οσμη', 'κοσμασ', 'κοσμας', 'ΟΣ', 'ος', 'οσ', 'ΚΟΣ', 'κος', 'ΑΣ', 'Κοσμάς'];
  const isFound = async (part: string) => [await people(part), await holons(part), (await found(part)).toSorted()];

  it.each(parts)('finds a Greek name by its part %s', async (part) =>
    expect(await isFound(part)).toEqual([[greek], ['Greek'], ['Greek', greek]]),
  );

  it('finds a Greek name stored by an earlier release', async () => {
    await runAll([
      ...foldsOf(Migration20260404090000_release_0_1_0),
      'drop trigger journeys__fold_name on directory.journeys',
      'drop function directory.journeys__fold_name()',
      'alter table directory.journeys drop column search_name',
      'drop index directory.holons__class_id_search_name__order',
    ]);
    await runAll(
      ['people', 'holons'].map(
        (table) => `update directory.${table} set name = name || ' ', description = description || ' '`,
      ),
    );
    await runAll(
      ['people', 'holons'].map(
        (table) => `update directory.${table} set name = rtrim(name), description = rtrim(description)`,
      ),
    );
    expect(await people('ΟΣ')).toEqual([]);
    await runAll(statementsOf(Migration20261128090000_folded_names));
    for (const part of parts)
      expect([part, await isFound(part)]).toEqual([part, [[greek], ['Greek'], ['Greek', greek]]]);
    const values = `select search_name || value as text from directory.people_channel_values where search_name || value like '%ς%'`;
    expect(await fixture.env.sql(values)).toEqual([]);
  });
});
