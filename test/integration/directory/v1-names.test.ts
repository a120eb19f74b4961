/** Names in lists and search: one order in all of them, whatever the locale of the database, and names in Greek (rules/people#people; D42, D47). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { directory } from '#services/directory';
import { Migration20260101000100_people_and_accounts } from '../../../services/directory/migrations/Migration20260101000100_people_and_accounts.ts';
import { Migration20260402090000_search_horizon } from '../../../services/directory/migrations/Migration20260402090000_search_horizon.ts';
import { Migration20261128090000_folded_names } from '../../../services/directory/migrations/Migration20261128090000_folded_names.ts';
import { createReadsNetwork, names, type ReadsNetwork } from './reads-network.ts';

const { listPeople, listHolons, listHolonMemberships, listPersonMemberships, listJourneys, searchDirectory } = directory.rpcs;
/** As they are ordered: neither case nor accents count, and the id decides between equals. */
const inOrder = ['zz ada', 'ZZ bob', 'zz Émile', 'zz emile', 'zz Zoe'];
const greek = 'ΟΣΜΗ ΚΟΣΜΑΣ';

let world: ReadsNetwork;
let ids: Awaited<ReturnType<ReadsNetwork['apply']>>['ids'];
beforeAll(async () => {
  world = await createReadsNetwork(import.meta.url);
  const shuffled = [4, 2, 1, 3, 0].map((index) => inOrder[index] ?? '');
  const kept = { name: 'Greek', description: `Knows ${greek}.` };
  ({ ids } = await world.apply({
    people: [
      ...shuffled.map((name, index) => ({ key: `zz${index}`, name })),
      { key: 'greek', ...kept, name: greek, contact: { nick: greek } },
    ],
    journeys: shuffled.map((name, index) => ({ slug: `zz-${index}`, name, steps: [{ slug: 'in', title: 'In' }] })),
    classes: [{ slug: 'choir', label: 'Choir', plural_label: 'Choirs' }],
    holons: [...shuffled.map((name, index) => ({ slug: `zz-${index}`, name, class: 'choir' })), { slug: 'greek', ...kept, class: 'choir' }],
    memberships: shuffled.flatMap((_name, index) => [
      { key: `same-journey-${index}`, person: `zz${index}`, holon: 'greek', journey: 'zz-0', step: 'in' },
      { key: `same-person-${index}`, person: 'greek', holon: `zz-${index}`, journey: 'zz-0', step: 'in' },
      { key: `same-holon-${index}`, person: 'greek', holon: 'greek', journey: `zz-${index}`, step: 'in' },
    ]),
  }));
});
afterAll(() => world.stop());

const root = () => world.actors['root'];
const people = async (q: string) => names(await world.call(listPeople, { q }, root()));
const holons = async (q: string) => names(await world.call(listHolons, { q, class: 'choir' }, root()));
const found = async (q: string) =>
  (await world.call(searchDirectory, { q, types: 'person,holon', limit_per_type: 10 }, root())).items.map((item) =>
    item.kind === 'person' ? item.person.name : item.holon.name,
  );

describe('lists by name', () => {
  it('have one order', async () => {
    expect(await people('zz ')).toEqual(inOrder);
    expect(await holons('zz ')).toEqual(inOrder);
    expect(names(await world.call(listJourneys, { q: 'zz ' }, root()))).toEqual(inOrder);
  });

  it('order memberships by journey, then by the other side', async () => {
    const holonId = ids['holons']?.['greek'] ?? 0;
    const ofHolon = async (sort: string) => (await world.call(listHolonMemberships, { holon_id: holonId, sort }, root())).items;
    const shown = (await ofHolon('name')).map(({ journey_name: journey, person }) => [journey, person.name]);
    const wanted = inOrder.flatMap((name) => (name === 'zz Zoe' ? [...inOrder, greek].map((person) => [name, person]) : [[name, greek]]));
    expect(shown).toEqual(wanted);
    expect((await ofHolon('-name')).map(({ journey_name: journey, person }) => [journey, person.name])).toEqual(shown.toReversed());
    const { items } = await world.call(listPersonMemberships, { person_id: ids['people']?.['greek'] ?? 0, limit: 200 }, root());
    expect(items.filter(({ journey_name: journey }) => journey === 'zz Zoe').map(({ holon }) => holon.name)).toEqual(['Greek', ...inOrder]);
  });
});

describe('a Greek name', () => {
  const parts = ['ΟΣΜΗ', 'ΚΟΣΜΑΣ', 'οσμη', 'κοσμασ', 'κοσμας', 'ΟΣ', 'ος', 'οσ', 'ΚΟΣ', 'κος', 'ΑΣ', 'Κοσμάς'];
  const isFound = async (part: string) => [await people(part), await holons(part), (await found(part)).toSorted()];

  it.each(parts)('is found by its part %s', async (part) => expect(await isFound(part)).toEqual([[greek], ['Greek'], ['Greek', greek]]));

  it('is found so too when it was stored by an earlier release', async () => {
    const run = async (statements: readonly string[]): Promise<void> => {
      for (const sql of statements) await world.env.sql(sql);
    };
    const statementsOf = (migration: { up(): void; getQueries(): unknown[] }): string[] => {
      migration.up();
      return migration.getQueries().map(String);
    };
    const make = <Made>(kind: new (driver: never, config: never) => Made): Made => new kind(undefined as never, undefined as never);
    const folds = [Migration20260101000100_people_and_accounts, Migration20260402090000_search_horizon]
      .flatMap((kind) => statementsOf(make(kind)))
      .filter((sql) => /create function directory\.fold/.test(sql))
      .map((sql) => sql.replace('create function', 'create or replace function'));
    expect(folds).toHaveLength(2);
    await run([
      ...folds,
      'alter table directory.journeys drop column search_name',
      'drop index directory.holons__class_id_search_name__order',
    ]);
    await run(['people', 'holons'].map((table) => `update directory.${table} set name = name || ' ', description = description || ' '`));
    await run(['people', 'holons'].map((table) => `update directory.${table} set name = rtrim(name), description = rtrim(description)`));
    expect(await people('ΟΣ')).toEqual([]);
    await run(statementsOf(make(Migration20261128090000_folded_names)));
    for (const part of parts) expect([part, await isFound(part)]).toEqual([part, [[greek], ['Greek'], ['Greek', greek]]]);
    const values = `select search_name || value as text from directory.people_channel_values where search_name || value like '%ς%'`;
    expect(await world.env.sql(values)).toEqual([]);
  });
});
