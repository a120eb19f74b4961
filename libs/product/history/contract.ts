/** An entry of the history as clients receive it, and where a change came from (W10). */
import { nullable, Type } from '#libs/infrastructure/contract';

export const historyVias = ['api', 'console', 'cli', 'file', 'webhook'] as const;
export type HistoryVia = (typeof historyVias)[number];

/** A changed field of an object. */
export const FieldChange = Type.Object({ old: Type.Unknown(), new: Type.Unknown() }, { $id: 'FieldChange' });

const SecretChange = Type.Object(
  { changed: Type.Literal(true) },
  { $id: 'SecretChange', description: 'A changed secret. Its values are not stored.' },
);

export const historyItem = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'Time of the change.' }),
    actor: nullable(
      Type.Object(
        {
          kind: Type.Enum(['account', 'key', 'cli', 'shared'], { description: 'Kind of the caller.' }),
          name: nullable(Type.String({ description: 'Name of the person of the account; null without a person.' })),
          account_id: nullable(Type.Integer({ description: 'The account, also of a service key.' })),
          key_id: nullable(Type.String({ description: 'The service key.' })),
        },
        { $id: 'HistoryActor', description: 'Who made a change.' },
      ),
    ),
    via: Type.Enum([...historyVias], {
      description:
        '`api`: a client of the API; `console`, `cli`: the console or the CLI; `file`: the workspace file; `webhook`: a booking or another job of the platform.',
    }),
    changes: Type.Record(Type.String(), Type.Union([FieldChange, SecretChange]), {
      description: 'Changed fields. `old` is null for a created object, `new` for a deleted one.',
    }),
  },
  { $id: 'HistoryItem', description: 'One change of an object.' },
);

/** Changes by jobs of the platform, such as the people of a booking. */
export const historyContextOfJob = { subject: 'job', via: 'webhook' } as const;
