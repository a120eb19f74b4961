/** Test data of a load run: people with accounts, a journey and an agent, distinguished from other data by a prefix. */
import { randomBytes } from 'node:crypto';

/** Input of test/load/settings.js. */
export interface Seed {
  readonly prefix: string;
  readonly journey: string;
  readonly agent: string;
  readonly webhookSecret: string;
  /**
   * Number of the first update that the run sends. A seed is valid for one run only, since repeated updates and
   * bookings are not processed again.
   */
  readonly firstUpdate: number;
  readonly people: readonly { readonly id: number; readonly email: string; readonly password: string }[];
}

/**
 * Number of people. Every run logs in each of them once, and by default logins are limited to 10 per minute and IP
 * address.
 */
const peopleCount = 8;

export function newPrefix(): string {
  return `load-${randomBytes(4).toString('hex')}`;
}

/** Returns the document for `workspace apply`. */
export function describeWorkspace(prefix: string): Record<string, unknown> {
  const keys = Array.from({ length: peopleCount }, (_, index) => `${prefix}-${index + 1}`);
  return {
    classes: [
      {
        slug: prefix,
        object_kind: 'holon',
        parent: null,
        label: 'Load',
        plural_label: 'Loads',
        conversation_event: true,
      },
    ],
    journeys: [
      {
        slug: prefix,
        name: `Load ${prefix}`,
        description: 'Made by a load test; may be archived.',
        svc_app: 'coherence',
        object_kind: 'holon',
        applies_to: prefix,
        is_conversation: true,
        texts: { welcome: 'Hello', enter: 'Enter', post: 'Post', goodbyeURL: 'https://example.org/bye' },
        questions: [{ text: 'What matters now?' }],
        steps: [
          { slug: 'first', title: 'First' },
          { slug: 'second', title: 'Second' },
        ],
      },
    ],
    people: keys.map((key, index) => ({ key, name: `Load ${index + 1}`, contact: { email: `${key}@example.org` } })),
    accounts: keys.map((key) => ({
      email: `${key}@example.org`,
      person: key,
      password: passwordOf(key),
      groups: ['coherence_users'],
    })),
    holons: [{ slug: prefix, name: `Load ${prefix}`, class: prefix, parent: null, journeys: [prefix] }],
    agents: [
      {
        slug: prefix,
        name: 'Load',
        prompt: 'Answer in one sentence.',
        config: { messaging: { webhook_secret: secretOf(prefix) } },
      },
    ],
  };
}

/**
 * Returns the seed. @param ids the `ids` that `workspace apply --json` printed. @throws Error if a person is missing
 */
export function describeSeed(prefix: string, ids: Readonly<Record<string, Readonly<Record<string, number>>>>): Seed {
  const people = Array.from({ length: peopleCount }, (_, index) => {
    const key = `${prefix}-${index + 1}`;
    const id = ids['people']?.[key];
    if (id === undefined) throw new Error(`the workspace was applied without the person ${key}`);
    return { id, email: `${key}@example.org`, password: passwordOf(key) };
  });
  return { prefix, journey: prefix, agent: prefix, webhookSecret: secretOf(prefix), firstUpdate: 1, people };
}

const passwordOf = (key: string): string => `pw-${key}-of-the-load-test`;
const secretOf = (prefix: string): string => `secret-${prefix}`;
