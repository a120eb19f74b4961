/** Reads of people (rules/people#people; D42, D47). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../../body.ts';
import type { directory } from '../../contract.ts';
import { readAfter, readSort, recordPage } from '../../record-list.ts';
import { sampleShort } from '../../short-text.ts';
import type { PersonListQuery } from '../contract.ts';
import { findPeople, findPeopleByKeys, getPeople, getPerson, listPeople } from '../statements/read.ts';

type PeopleReadHandlers = Pick<Handlers<typeof directory>, 'getPeople' | 'findPeopleByKeys' | 'listPeople' | 'searchPeople' | 'getPerson'>;

export function createPeopleReadHandlers(db: Database): PeopleReadHandlers {
  const list = async ({ q, sort, limit = recordPage, offset = 0, ...after }: PersonListQuery) => {
    const order = readSort(sort);
    const isFrequent = q === '' || (await sampleShort(db, 'people', q)).name;
    const lists = isFrequent ? listPeople : findPeople;
    return bodyOf(await lists[order](db, { text: q, ...readAfter(after), limit, offset }));
  };
  return {
    listPeople: list,
    searchPeople: list,
    getPeople: async ({ ids }) => bodyOf(await getPeople(db, { ids })),
    findPeopleByKeys: async ({ keys }) => bodyOf(await findPeopleByKeys(db, { keys })),
    getPerson: async ({ person_id: id }) => bodyOf(await getPerson(db, { id })),
  };
}
