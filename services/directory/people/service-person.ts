import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { directory } from '../contract.ts';
import { tellWritten } from '../feed/index.ts';
import { insertPerson } from './statements/create.ts';

/** The person of a program's account, of the kind `service` (K2); its id. */
export async function createServicePerson(
  tx: Tx,
  { jobs, eventOutbox }: { jobs: Jobs; eventOutbox: EventOutbox },
  name: string,
): Promise<number> {
  const { id } = await insertPerson(tx, { name: name.trim(), description: '', photoUrl: null, actorKind: 'service', contact: '{}' });
  await tellWritten(eventOutbox, tx, 'person', 'created', [id]);
  await jobs.emit(tx, directory.events.peopleChanged, { ids: [id] });
  return id;
}
