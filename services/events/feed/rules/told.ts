/**
 * What a service may tell (V1, V2). Its NATS account is all that is known of a sender, so nothing enters that could not be stored or read, no service
 * tells of what another one declares, and who may read a subject is its owner's word alone.
 */
import { type FeedEvent, type FeedSubject, type Static, outboxMessage } from '#libs/contract';
import { findJsonProblem, jsonProblemTexts } from '#libs/json';
import { compileSchema } from '#libs/schema';

type Told = Static<typeof outboxMessage>['told'];

export type ReadTold = (service: string, message: Uint8Array) => { readonly told: Told; readonly problem?: string };

/** Reads messages of the stream; one with a problem tells nothing. `declared`: by service, what it tells. */
export function createToldReader(declared: ReadonlyMap<string, readonly FeedEvent[]>): ReadTold {
  const check = compileSchema(outboxMessage);
  const declarations = new Map<string, { readonly service: string; readonly subject: FeedSubject }>();
  const owners = new Map<string, string>();
  for (const [service, events] of declared) {
    for (const { type, subject } of events) {
      declarations.set(type, { service, subject });
      if (type.startsWith(`${subject}.`)) owners.set(subject, service);
    }
  }

  /** A type that nobody here declares is of another release. */
  const isAnothers = (service: string, { type, subject_type: subject }: Told[number]): boolean => {
    const declaration = declarations.get(type);
    return declaration === undefined
      ? subject === 'webhook_endpoint' && service !== owners.get(subject)
      : declaration.service !== service || declaration.subject !== subject;
  };

  return (service, message) => {
    const batch = parse(message);
    const broken = check(batch);
    if (broken !== undefined) return { told: [], problem: `/${broken.path.join('/')}: ${broken.message}` };
    const unstorable = findJsonProblem(batch);
    if (unstorable !== undefined) return { told: [], problem: `/${unstorable.path.join('/')} ${jsonProblemTexts[unstorable.kind]}` };
    const { told } = batch as Static<typeof outboxMessage>;
    if (told.some((event) => isAnothers(service, event))) return { told: [], problem: 'an event that another service tells' };
    return {
      told: told.map((event) => (owners.get(event.subject_type) === service ? event : { ...event, access: null, farewell: false })),
    };
  };
}

/** Undefined when it is no JSON. Ids and slugs: nothing that a double changes. */
function parse(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString('utf8'));
  } catch {
    return undefined;
  }
}
