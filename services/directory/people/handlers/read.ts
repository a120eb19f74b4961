/** Reads of people (rules/people#people; D42, D47). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../../contract.ts';
import { readBody } from '../../read-body.ts';
import { readAfter, readSort, recordPage } from '../../record-list.ts';
import { sampleShort } from '../../short-text.ts';
import { findPeople, findPeopleByKeys, getPeople, getPerson, listPeople } from '../statements/read.ts';

type PeopleReadHandlers = Pick<Handlers<typeof directory>, 'getPeople' | 'findPeopleByKeys' | 'listPeople' | 'getPerson'>;

export function createPeopleReadHandlers(db: Database): PeopleReadHandlers {
  return {
    getPeople: ({ ids }) => readBody(db, getPeople, ids),
    findPeopleByKeys: ({ keys }) => readBody(db, findPeopleByKeys, keys),
    listPeople: async ({ q, sort, limit = recordPage, offset = 0, ...after }) => {
      const order = readSort(sort);
      const isFrequent = q === '' || (await sampleShort(db, 'people', q)).name;
      return readBody(db, (isFrequent ? listPeople : findPeople)[order], q, ...readAfter(after), limit, offset);
    },
    getPerson: ({ person_id: id }) => readBody(db, getPerson, id),
  };
}
