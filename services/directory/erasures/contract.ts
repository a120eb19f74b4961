/** Erasure of a person in all services: started over HTTP or by the CLI, run by a job (rules/people#export-and-erasure; W1, W20). */
import { byOperators, byUsers, job, nullable, rpc, Type } from '#libs/contract';
import { anyId, ifMatch, instant, rowId, v1Errors } from '../api-objects/contract.ts';
import { chatIds } from '../person-data/contract.ts';

/** Services in the order of the erasure. The directory is last: its rows identify the person in the others. */
export const erasedServices = ['transcripts', 'conversations', 'media', 'agents', 'events', 'directory'] as const;
export type ErasedService = (typeof erasedServices)[number];

export const erasureStates = ['running', 'done', 'failed'] as const;
const erasureId = Type.Integer({ description: 'Id of the erasure.' });
const state = Type.Enum([...erasureStates], {
  description: '`failed`: an operator has to act. Temporary failures are retried while the state is `running`.',
});
const counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Removed rows by kind.' });

const serviceState = {
  service: Type.Enum([...erasedServices]),
  state: Type.Enum([...erasureStates], {
    description: '`failed`: the last attempt failed; it is repeated while the erasure is `running`.',
  }),
  error: nullable(Type.String({ description: 'Failure of the last attempt.' })),
};
const times = {
  started_at: instant('Start of the erasure.'),
  finished_at: nullable(instant('End, with success or failure.')),
};

export const newErasure = Type.Object(
  { confirm: Type.String({ maxLength: 500, description: 'The exact name of the person.' }) },
  { $id: 'NewErasure' },
);

const startedErasure = Type.Object({ id: erasureId, state }, { $id: 'StartedErasure' });
const Erasure = Type.Object(
  { id: erasureId, state, services: Type.Array(Type.Object(serviceState)), ...times },
  { $id: 'Erasure', description: 'The erasure of a person, by service.' },
);

const Run = Type.Object({
  id: erasureId,
  state,
  services: Type.Array(Type.Object({ ...serviceState, counts }), { description: 'In the order of the erasure.' }),
  ...times,
});

export const erasureRpcs = {
  erasePerson: rpc({
    subject: 'directory.people.erase',
    callers: byUsers,
    audit: 'person.erase',
    idempotent: true,
    summary: 'Starts the erasure of a person in all services and closes the accounts of the person (W1).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...newErasure.properties, ...ifMatch }),
    reply: Type.Object({ erasure: startedErasure }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('`confirm` is not the name of the person.'),
      ...v1Errors.denied('The caller is not a superuser.'),
      ...v1Errors.notFound('The person does not exist.'),
      last_superuser: { code: 'conflict', when: 'The person has the account of the last active superuser.' },
    },
  }),
  getErasure: rpc({
    subject: 'directory.people.get-erasure',
    callers: byUsers,
    summary: "Returns a person's latest erasure of the last 30 days (W1, W20).",
    request: Type.Object({ person_id: anyId('Id of the person.') }),
    reply: Type.Object({ erasure: Erasure }),
    errors: {
      ...v1Errors.denied('The caller is not a superuser.'),
      ...v1Errors.notFound('The person does not exist, and no erasure of the last 30 days has the id.'),
    },
  }),
  startErasure: rpc({
    subject: 'admin.directory.people.start-erasure',
    callers: byOperators,
    audit: 'person.erase',
    summary: 'Starts the erasure of a person, or resumes one that failed, also of a person who was erased before.',
    request: Type.Object({ person_id: rowId, ...chatIds, operator: Type.String({ minLength: 1, maxLength: 200 }) }),
    reply: Run,
    errors: v1Errors.notFound('The person does not exist and was not erased.'),
  }),
  previewErasure: rpc({
    subject: 'admin.directory.people.describe-erasure',
    callers: byOperators,
    summary: 'Counts the rows that an erasure would remove, by service.',
    request: Type.Object({ person_id: rowId, ...chatIds }),
    reply: Type.Object({ counts: Type.Record(Type.String(), counts) }),
    timeoutMs: 300_000,
  }),
  followErasure: rpc({
    subject: 'admin.directory.people.get-erasure-state',
    callers: byOperators,
    summary: 'Returns the state of an erasure.',
    request: Type.Object({ erasure_id: erasureId }),
    reply: Run,
    errors: v1Errors.notFound('The erasure does not exist.'),
  }),
} as const;

export const erasureJobs = {
  erasePerson: job({
    type: 'directory.erase-person',
    summary: 'Erases a person in one service after the other. Every step is repeatable.',
    payload: Type.Object({ erasure_id: erasureId }),
    policy: { maxAttempts: 50, timeoutMs: 600_000, concurrency: 2 },
  }),
} as const;
