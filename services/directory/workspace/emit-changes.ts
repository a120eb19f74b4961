import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { findAccountSessions, revokeAccountSessions } from '../accounts/index.ts';
import { directory } from '../contract.ts';
import type { ChangeLog } from './rules/changes.ts';
import type { Targets } from './rules/resolve.ts';
import type { ListName } from './rules/vocabulary.ts';
import type { Written } from './write.ts';

/** More than this and listeners are told to forget everything instead. */
const maxNamedIds = 1_000;

/** Tells the other services what an application changed, through the outbox of the same transaction. */
export async function emitChanges(tx: Tx, jobs: Jobs, targets: Targets, log: ChangeLog, written: Written): Promise<void> {
  const touched = (list: ListName): number[] => [
    ...targets[list].filter(({ storedId }) => storedId === undefined).map((target) => written.idOfTarget(list, target)),
    ...log.changedIds(list),
  ];
  const emit = async (event: typeof directory.events.peopleChanged, ids: readonly number[] | null): Promise<void> => {
    if (ids?.length === 0) return;
    await jobs.emit(tx, event, { ids: ids === null || ids.length > maxNamedIds ? null : [...ids] });
  };
  const classes = touched('classes');
  const { peopleChanged, holonsChanged, journeysChanged, sessionsRevoked } = directory.events;
  await emit(peopleChanged, touched('people'));
  await emit(holonsChanged, classes.length > 0 ? null : touched('holons'));
  // A holon of another class may begin or cease to own journeys (D18d).
  const ownersChanged = classes.length > 0 || log.changedIds('holons', ['class_id']).length > 0;
  await emit(journeysChanged, ownersChanged ? null : [...new Set([...touched('journeys'), ...written.reattachedJourneys])]);

  const revoked = log.changedIds('accounts', ['password', 'is_active']);
  const changed = log.changedIds('accounts', ['person_id', 'superuser', 'global_editor', 'groups']);
  const keys = [
    ...(revoked.length === 0 ? [] : await revokeAccountSessions(tx, { accountIds: revoked })),
    ...(changed.length === 0 ? [] : await findAccountSessions(tx, { accountIds: changed })),
  ];
  if (keys.length > 0) await jobs.emit(tx, sessionsRevoked, { session_keys: keys.map((row) => row.session_key) });
}
