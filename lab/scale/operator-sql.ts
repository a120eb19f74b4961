/**
 * What operators look through (P7): jobs and receipts of two weeks, spread over the services, and conversations in a pipeline step. What is rare is
 * old, so that a list that is newest first must go past everything else; each request meets as much at every size.
 */
import type { Seed } from './fill.ts';

export interface OperatorSizes {
  jobs: number;
  receipts: number;
}

/** Jobs of each service in ten. */
const shares = { conversations: 3, transcripts: 3, media: 2, agents: 2 } as const;
/** Receipts in ten that are messages to agents. */
const messages = 3;
/** Jobs that died, receipts that were refused: of each table, its oldest. */
export const deadJobs = 400;
export const plantedCount = 10;
const weeks = `interval '14 days'`;

export const conversationCount = ({ jobs }: OperatorSizes): number => Math.ceil(jobs / 10);
const jobsOf = ({ jobs }: OperatorSizes, service: keyof typeof shares): number => Math.round((jobs * shares[service]) / 10);
const bookingCount = ({ receipts }: OperatorSizes): number => Math.round((receipts * (10 - messages)) / 10);

/** A text that is in one job and one receipt of each kind. */
export const plantedText = (target: number): string => `planted-${String(target + 1).padStart(4, '0')}-text`;
export const plantedPerson = (target: number): number => 900_000 + target;

export function operatorSeed(sizes: OperatorSizes): Seed {
  const services = Object.keys(shares) as (keyof typeof shares)[];
  return {
    tables: [...services.map((service) => `${service}.jobs`), 'conversations.webhook_receipts', 'agents.webhook_receipts'],
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
      { what: `${bookingCount(sizes)} receipts of bookings`, sql: bookingRows(bookingCount(sizes)) },
      { what: `${sizes.receipts - bookingCount(sizes)} receipts of messages`, sql: messageRows(sizes.receipts - bookingCount(sizes)) },
    ],
  };
}

/** When the row `n` of `count` came: evenly over two weeks, the last one now. */
const instant = (count: number): string => `(now() - ${weeks} * (${count} - n) / ${count})`;
/** A UUID of version 7 of that time. */
const idAt = (count: number): string =>
  `(lpad(to_hex((extract(epoch from ${instant(count)}) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid`;

function jobRows(service: keyof typeof shares, count: number, sizes: OperatorSizes): string {
  return `insert into ${service}.jobs (id, type, key, payload, state, error, request_id, attempts, created_at, started_at, finished_at)
    select ${idAt(count)}, case when n % 1000 = 0 then '${service}.rare' else '${service}.often-' || n % 8 end, case when n % 50 = 0 then 'key-' || n end,
      case when n % 2 = 0 then jsonb_build_object('conversation_id', 1 + n % ${conversationCount(sizes)}, 'cause', 'step_entered') else '{}' end,
      case when n <= ${deadJobs} then 'dead' else 'succeeded' end,
      case when n <= ${plantedCount} then 'The store was away: planted-' || lpad(n::text, 4, '0') || '-text'
        when n <= ${deadJobs} then 'Attempt ' || n || ' of the provider took too long' end,
      'request-' || n, 1, ${instant(count)}, ${instant(count)}, now()
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

/** Somebody to sign in, one journey, and conversations of which every tenth is in its step with a job. */
function pipelineSteps(sizes: OperatorSizes): Seed['steps'] {
  return [
    { what: 'a person', sql: `insert into directory.people (id, key, name, contact) values (1, 'person-1', 'Operator', '{}')` },
    {
      what: `${conversationCount(sizes)} conversations`,
      sql: `with journey as (
          insert into directory.journeys (id, slug, name, description, is_conversation, public_visible, texts)
          values (1, 'circle', 'Circle', '', true, true, '{}')
        ), steps as (
          insert into directory.journey_steps (id, journey_id, slug, title, goal, position, config, pipeline_job)
          values (1, 1, 'held', 'Held', '', 0, '{}', null), (2, 1, 'import', 'Import', '', 1, '{}', 'transcript_import')
        ), made as (
          insert into conversations.all_conversations (id, journey_id, step_id)
          select n, 1, case when n % 10 = 0 then 2 else 1 end from generate_series(1, ${conversationCount(sizes)}) n
        )
        insert into conversations.pipeline_entries (conversation_id, step_id, pipeline_job, cause, entered_at)
        select n, 2, 'transcript_import', 'recorded', now() from generate_series(1, ${conversationCount(sizes)}) n`,
    },
  ];
}
