import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { changeTokens } from '../accounts/index.ts';
import { directory } from '../contract.ts';
import { tellWritten } from '../feed/index.ts';
import type { ChangeLog } from './rules/changes.ts';
import type { Targets } from './rules/resolve.ts';
import type { ListName } from './rules/vocabulary.ts';
import type { Written } from './write.ts';

/** More than this and listeners are told to forget everything instead. */
const maxNamedIds = 1_000;
/** What the feed is told of (V1). */
const toldLists = [
  ['people', 'person'],
  ['holons', 'holon'],
  ['memberships', 'membership'],
  ['relationships', 'relationship'],
] as const;

interface Told {
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
}

/** Tells the other services and the feed what an application changed, through the outboxes of the same transaction. */
export async function emitChanges(tx: Tx, { jobs, eventOutbox }: Told, targets: Targets, log: ChangeLog, written: Written): Promise<void> {
  const created = (list: ListName): number[] =>
    targets[list].filter(({ storedId }) => storedId === undefined).map((target) => written.idOfTarget(list, target));
  const touched = (list: ListName): number[] => [...created(list), ...log.changedIds(list)];
  for (const [list, kind] of toldLists) {
    const fresh = new Set(created(list));
    await tellWritten(eventOutbox, tx, kind, 'created', [...fresh]);
    await tellWritten(
      eventOutbox,
      tx,
      kind,
      'updated',
      log.changedIds(list).filter((id) => !fresh.has(id)),
    );
  }
  const emit = async (event: typeof directory.events.peopleChanged, ids: readonly number[] | null): Promise<void> => {
    if (ids?.length === 0) return;
    await jobs.emit(tx, event, { ids: ids === null || ids.length > maxNamedIds ? null : [...ids] });
  };
  const classes = touched('classes');
  const { peopleChanged, holonsChanged, journeysChanged } = directory.events;
  await emit(peopleChanged, touched('people'));
  await emit(holonsChanged, classes.length > 0 ? null : touched('holons'));
  // A holon of another class may begin or cease to own journeys (D18d).
  const ownersChanged = classes.length > 0 || log.changedIds('holons', ['class_id']).length > 0;
  await emit(journeysChanged, ownersChanged ? null : [...new Set([...touched('journeys'), ...written.reattachedJourneys])]);

  await changeTokens(tx, jobs, log.changedIds('accounts', ['is_active']), 'end');
  await changeTokens(tx, jobs, log.changedIds('accounts', ['password']), 'sign-out');
  await changeTokens(tx, jobs, log.changedIds('accounts', ['person_id', 'superuser', 'global_editor', 'groups']), 'refresh');
}
