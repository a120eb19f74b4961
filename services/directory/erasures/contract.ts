/** Erasure of a person in all services: started over HTTP and by `doctor --after-restore`, run by a job (rules/people#export-and-erasure; W1, W20). */
import { byOperators, byUsers, job, nullable, rpc, Type } from '#libs/infrastructure/contract';
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

const serviceState = Type.Object({
  service: Type.Enum([...erasedServices]),
  state: Type.Enum([...erasureStates], {
    description: '`failed`: the last attempt failed; it is repeated while the erasure is `running`.',
  }),
  error: nullable(Type.String({ description: 'Failure of the last attempt.' })),
  counts,
});

export const newErasure = Type.Object(
  {
    confirm: Type.String({ maxLength: 500, description: 'The exact name of the person.' }),
    ...chatIds,
    dry_run: Type.Optional(Type.Boolean({ description: 'Count what would be removed, without changing anything.' })),
  },
  { $id: 'ErasureCreate' },
);

export const startedErasure = Type.Object({
  erasure: Type.Object({ id: erasureId, state }, { $id: 'StartedErasure' }),
});
export const erasurePreview = Type.Object(
  { counts: Type.Record(Type.String(), counts, { description: 'Rows that would be removed, by service.' }) },
  { $id: 'ErasurePreview' },
);
const Erasure = Type.Object(
  {
    id: erasureId,
    state,
    services: Type.Array(serviceState, { description: 'In the order of the erasure.' }),
    started_at: instant('Start of the erasure.'),
    finished_at: nullable(instant('End, with success or failure.')),
  },
  { $id: 'Erasure', description: 'The erasure of a person, by service.' },
);

export const erasureRpcs = {
  erasePerson: rpc({
    subject: 'directory.people.erase',
    callers: byUsers,
    audit: 'person.erase',
    idempotent: true,
    summary:
      'Starts the erasure of a person in all services and closes the accounts of the person, or counts what it would remove (W1).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...newErasure.properties, ...ifMatch }),
    reply: Type.Union([startedErasure, erasurePreview]),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('`confirm` is not the name of the person.'),
      ...v1Errors.denied('The caller is not a superuser.'),
      ...v1Errors.notFound('The person does not exist.'),
      last_superuser: { code: 'conflict', when: 'The person has the account of the last active superuser.' },
    },
    timeoutMs: 120_000,
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
  repeatErasure: rpc({
    subject: 'admin.directory.people.repeat-erasure',
    callers: byOperators,
    audit: 'person.erase',
    summary: 'Repeats a recorded erasure after a restore, and returns its state; with `erasure_id` only the state.',
    request: Type.Object({
      person_id: nullable(rowId),
      digest: nullable(
        Type.String({ maxLength: 64, description: 'Distinguishes the person from others with the same id.' }),
      ),
      visitor_ids: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 }),
      telegram_user_ids: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 100 }),
      erasure_id: Type.Optional(erasureId),
    }),
    reply: Type.Object({
      outcome: Type.Enum(['started', 'gone', 'other', 'chats'], {
        description: '`other`: the id now belongs to another person. `chats`: the record names chats only.',
      }),
      person_id: nullable(rowId),
      erasure: nullable(Erasure),
    }),
    errors: v1Errors.notFound('The erasure does not exist.'),
    timeoutMs: 60_000,
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
