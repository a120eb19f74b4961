/**
 * Data for operator lists (P7): jobs and receipts of two weeks, distributed over the services, and conversations in a
 * pipeline step. Rare rows are old, so that a list with newest rows first must skip all other rows. Each request
 * matches the same number of rows at every size.
 */
import type { Seed } from './fill.ts';

export interface OperatorSizes {
  jobs: number;
  receipts: number;
}

/** Number of jobs of each service, out of ten jobs. */
const shares = { conversations: 3, transcripts: 3, media: 2, agents: 2 } as const;
/** Receipts out of ten that are messages to agents. */
const messages = 3;
/** Number of dead jobs and of rejected receipts, which are the oldest rows of each table. */
const deadJobs = 400;
export const plantedCount = 10;
/** Number of conversations on the rare journey; `deadImports` is the number of dead imports of other conversations. */
const seldomCount = 5;
const deadImports = 20;
const weeks = `interval '14 days'`;

export const conversationCount = ({ jobs }: OperatorSizes): number => Math.ceil(jobs / 10);
const jobsOf = ({ jobs }: OperatorSizes, service: keyof typeof shares): number =>
  Math.round((jobs * shares[service]) / 10);
const bookingCount = ({ receipts }: OperatorSizes): number => Math.round((receipts * (10 - messages)) / 10);

/**
 * Returns the number of dead jobs with the same error, which operators redrive together. They are jobs of the media
 * service, newer than its other dead jobs.
 */
export const sameErrorCount = (sizes: OperatorSizes): number =>
  Math.min(10_000, Math.floor(jobsOf(sizes, 'media') / 2));
export const sameError = 'The provider was away: no answer within 60 s';

/** Returns a text that only one job and one receipt of each kind contain. */
export const plantedText = (target: number): string => `planted-${String(target + 1).padStart(4, '0')}-text`;
export const plantedPerson = (target: number): number => 900_000 + target;
/** Returns the id of a conversation that has one job in each service. */
export const plantedConversation = (target: number): number => 900_000_000 + target;

export function operatorSeed(sizes: OperatorSizes): Seed {
  const services = Object.keys(shares) as (keyof typeof shares)[];
  return {
    tables: [
      ...services.map((service) => `${service}.jobs`),
      'conversations.webhook_receipts',
      'agents.webhook_receipts',
    ],
    identities: [
      'directory.people',
      'directory.journeys',
      'directory.journey_steps',
      'conversations.all_conversations',
      'conversations.pipeline_entries',
      'conversations.webhook_receipts',
    ],
    steps: [
      ...pipelineSteps(sizes),
      ...services.map((service) => ({
        what: `${jobsOf(sizes, service)} jobs of ${service}`,
        sql: jobRows(service, jobsOf(sizes, service), sizes),
      })),
      { what: 'imports of transcripts', sql: importRows(sizes) },
      { what: `${bookingCount(sizes)} receipts of bookings`, sql: bookingRows(bookingCount(sizes)) },
      {
        what: `${sizes.receipts - bookingCount(sizes)} receipts of messages`,
        sql: messageRows(sizes.receipts - bookingCount(sizes)),
      },
    ],
  };
}

/** Returns SQL for the time of row `n` of `count`. Times are evenly distributed over the last two weeks. */
const instant = (count: number): string => `(now() - ${weeks} * (${count} - n) / ${count})`;
/** Returns SQL for a UUID of version 7 that contains this time. */
const idAt = (count: number, series = '000'): string =>
  `(lpad(to_hex((extract(epoch from ${instant(count)}) * 1000)::bigint), 12, '0') || '7${series}' || '8' || lpad(to_hex(n), 15, '0'))::uuid`;

function jobRows(service: keyof typeof shares, count: number, sizes: OperatorSizes): string {
  const dead = deadJobs + (service === 'media' ? sameErrorCount(sizes) : 0);
  return `insert into ${service}.jobs (id, type, key, payload, state, error, request_id, attempts, created_at, started_at, finished_at)
    select ${idAt(count)}, case when n % 1000 = 0 then '${service}.rare' else '${service}.often-' || n % 8 end, case when n % 50 = 0 then 'key-' || n end,
      case when n <= ${plantedCount} then jsonb_build_object('conversation_id', ${plantedConversation(0) - 1} + n)
        when n % 2 = 0 then jsonb_build_object('conversation_id', 1 + n % ${conversationCount(sizes)}, 'cause', 'step_entered') else '{}' end,
      case when n <= ${dead} then 'dead' else 'succeeded' end,
      case when n <= ${plantedCount} then 'The store was away: planted-' || lpad(n::text, 4, '0') || '-text'
        when n <= ${deadJobs} then 'Attempt ' || n || ' of the provider took too long' when n <= ${dead} then '${sameError}' end,
      'request-' || n, 1, ${instant(count)}, ${instant(count)}, now()
    from generate_series(1, ${count}) n`;
}

/** Returns SQL for the imports of all conversations in a pipeline step, of which the oldest imports failed. */
function importRows(sizes: OperatorSizes): string {
  const count = Math.floor(conversationCount(sizes) / 10);
  return `insert into transcripts.jobs (id, type, payload, state, error, attempts, created_at, started_at, finished_at)
    select ${idAt(count, '001')}, 'transcripts.transcript-import', jsonb_build_object('conversation_id', 10 * n, 'cause', 'step_entered'),
      case when n <= ${deadImports} then 'dead' else 'succeeded' end, case when n <= ${deadImports} then 'The artifact is not there' end,
      1, ${instant(count)}, ${instant(count)}, now()
    from generate_series(1, ${count}) n`;
}

const body = (
  text: string,
): string => `convert_to('{"triggerEvent":"BOOKING_CREATED","createdAt":"2026-05-01T10:00:00.000Z","payload":{"uid":"' || md5(n::text)
  || '","title":"A conversation by the river","attendees":[{"name":"Guest ' || n || '","email":"guest' || n || '@example.org"}],"note":"' || ${text} || '"}}', 'UTF8')`;
const planted = `case when n <= ${plantedCount} then 'planted-' || lpad(n::text, 4, '0') || '-text' else '' end`;

function bookingRows(count: number): string {
  return `insert into conversations.webhook_receipts
      (id, source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, body, outcome, message, processed_at, body_size)
    select n, case when n <= ${deadJobs} then 'meeting' else 'booking' end, 'k' || n, 'd', ${instant(count)},
      case when n <= ${plantedCount} then ${plantedPerson(0) - 1} + n else 1 + n % 5000 end::text, '{"content-type": "application/json"}', 'BOOKING_CREATED',
      ${body(planted)}, case when n <= ${deadJobs} then 'stale' else 'applied' end, 'Done.', ${instant(count)}, 300
    from generate_series(1, ${count}) n`;
}

function messageRows(count: number): string {
  return `insert into agents.webhook_receipts
      (dedupe_key, delivery_id, received_at, stored_at, stream_sequence, agent_slug, update_id, kind, chat_id, body, outcome, message, processed_at, body_size)
    select 'k' || n, 'd', ${instant(count)}, ${instant(count)}, n, 'guide', n, 'message', n % 1000,
      convert_to('{"update_id":' || n || ',"message":{"message_id":7,"chat":{"id":' || n % 1000 || '},"text":"When do you meet? ' || ${planted} || '"}}', 'UTF8'),
      case when n <= ${deadJobs} then 'send_refused' else 'answered' end, 'Done.', ${instant(count)}, 120
    from generate_series(1, ${count}) n`;
}

/**
 * Creates an account for signing in, and conversations. Every tenth conversation is in a step with a pipeline job, and
 * the oldest of these are on a rare journey.
 */
function pipelineSteps(sizes: OperatorSizes): Seed['steps'] {
  const isSeldom = `n % 10 = 0 and n <= ${10 * seldomCount}`;
  return [
    {
      what: 'a person',
      sql: `insert into directory.people (id, key, name, contact) values (1, 'person-1', 'Operator', '{}')`,
    },
    {
      what: `${conversationCount(sizes)} conversations`,
      sql: `with journey as (
          insert into directory.journeys (id, slug, name, description, is_conversation, public_visible, texts)
          values (1, 'circle', 'Circle', '', true, true, '{}'), (2, 'seldom', 'Seldom', '', true, true, '{}')
        ), steps as (
          insert into directory.journey_steps (id, journey_id, slug, title, goal, position, config, pipeline_job)
          values (1, 1, 'held', 'Held', '', 0, '{}', null), (2, 1, 'import', 'Import', '', 1, '{}', 'transcript_import'),
            (3, 2, 'rare', 'Rare', '', 0, '{}', 'transcript_import')
        ), made as (
          insert into conversations.all_conversations (id, journey_id, step_id)
          select n, case when ${isSeldom} then 2 else 1 end, case when ${isSeldom} then 3 when n % 10 = 0 then 2 else 1 end
          from generate_series(1, ${conversationCount(sizes)}) n
        )
        insert into conversations.pipeline_entries (conversation_id, step_id, pipeline_job, cause, entered_at)
        select n, case when ${isSeldom} then 3 else 2 end, 'transcript_import', 'recorded', now() from generate_series(1, ${conversationCount(sizes)}) n`,
    },
  ];
}
