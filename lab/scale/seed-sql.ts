/**
 * Rows of a filled platform. The number of rows that a request matches does not depend on the size. A journey has 50
 * conversations, an event 50 or 100, a location 10 events, a guest about 10 conversations, a host 500, and a holon 30
 * links. The conversations of a location have 200 people and 20 linked holons, since participants are drawn from
 * neighbours. All texts have the same length. Only the other rows grow with the size. The conversations of a journey
 * are as far apart in the table as possible.
 */
import type { Seed } from './fill.ts';

export interface SeedSizes {
  conversations: number;
  people: number;
  holons: number;
}

/** Conversations per statement. */
const batchSize = 50_000;

export const conversationsPerJourney = 50;
/** Number of children of a holon. Positions in the tree are computed as in a heap. */
export const childrenPerHolon = 10;
const stepsPerJourney = 4;
/** Number of candidates from which each conversation of a journey draws its hosts, guests and linked holons. */
const neighbours = { hosts: 2, guests: 100, holons: 12 };
const classIds = { place: 1, circle: 2, closedCircle: 3 } as const;

const journeyCount = (sizes: SeedSizes): number => Math.ceil(sizes.conversations / conversationsPerJourney);
const hostCount = (sizes: SeedSizes): number => Math.max(1, Math.floor(sizes.people / 100));
/** Returns the highest id of a holon with children; holons with higher ids are events. */
const innerHolons = (sizes: SeedSizes): number => Math.floor((sizes.holons - 2) / childrenPerHolon) + 1;

/** Returns SQL for a reproducible number below `limit` for the row `n`. */
const pick = (seed: number, limit: number | string): string =>
  `((hashint4extended(n, ${seed}) & 2147483647) % ${limit})::integer`;
/**
 * Like `pick`, but picks from the `count` candidates of a journey, which are adjacent to the candidates of the previous
 * and next journey.
 */
const pickNear = (sizes: SeedSizes, seed: number, count: number, limit: number): string =>
  `(((journey - 1)::bigint * ${limit} / ${journeyCount(sizes)} + ${pick(seed, count)}) % ${limit})::integer`;
/** Returns SQL that pads a number to the same number of digits in every row. */
const padded = (number: string): string => `lpad(${number}::text, 7, '0')`;
/** Returns SQL for the event that owns a journey. @param journey SQL expression of the journey's number */
const eventOf = (sizes: SeedSizes, journey: string): string =>
  `(${innerHolons(sizes)} + 1 + (${journey} - 1) % ${sizes.holons - innerHolons(sizes)})`;

export function conversationSeed(sizes: SeedSizes): Seed {
  const batches = Array.from({ length: Math.ceil(sizes.conversations / batchSize) }, (_, batch) => {
    const last = Math.min((batch + 1) * batchSize, sizes.conversations);
    return {
      what: `${last} of ${sizes.conversations} conversations`,
      sql: conversationRows(sizes, batch * batchSize + 1, last),
    };
  });
  const directory = ['people', 'object_classes', 'journeys', 'journey_steps', 'journey_questions', 'holons'];
  return {
    tables: ['directory.people', 'directory.holons', 'conversations.all_conversations'],
    identities: [...directory.map((table) => `directory.${table}`), 'conversations.all_conversations'],
    steps: [...directorySteps(sizes), ...batches],
  };
}

/** Rows of the directory: people, classes, a tree of holons whose leaves are events, and their journeys. */
function directorySteps(sizes: SeedSizes): Seed['steps'] {
  const journeys = journeyCount(sizes);
  return [
    {
      what: `${sizes.people} people`,
      sql: `insert into directory.people (id, key, name, description, photo_url, contact)
        select n, 'person-' || n,
          (array['Ada','Bo','Carla','Dov','Ebru','Femi','Gita','Hugo','Ines','Jun'])[1 + ${pick(1, 10)}] || ' ' ||
          (array['Abel','Berg','Costa','Diaz','Evans','Fuchs','Grün','Haas','Ito','Jones','Kaya','Lund'])[1 + ${pick(2, 12)}] || ' ' || ${padded('n')},
          case when n % 3 = 0 then 'Takes part in conversations since ' || 2015 + n % 10 || '.' else '' end,
          case when n % 2 = 0 then 'https://images.example.org/people/' || ${padded('n')} || '.jpg' end,
          jsonb_build_object('email', 'person' || ${padded('n')} || '@example.org', 'phone', '+49 30 ' || 1000000 + n)
        from generate_series(1, ${sizes.people}) as n`,
    },
    {
      what: `${sizes.holons} holons, the events among them in a tree`,
      sql: `with classes as (
          insert into directory.object_classes (id, slug, label, plural_label, conversation_event, private, effective_private)
          values (${classIds.place}, 'place', 'Place', 'Places', false, false, false),
            (${classIds.circle}, 'circle', 'Circle', 'Circles', true, false, false),
            (${classIds.closedCircle}, 'closed-circle', 'Closed circle', 'Closed circles', true, true, true)
        )
        insert into directory.holons (id, slug, name, description, class_id, parent_id, links)
        select n, 'holon-' || n, (array['Spring','Summer','Autumn','Winter','Harbour','Meadow'])[1 + ${pick(3, 6)}] || ' ' || ${padded('n')},
          'A place where people meet, number ' || n || '.',
          case when n <= ${innerHolons(sizes)} then ${classIds.place} when n % 10 = 0 then ${classIds.closedCircle} else ${classIds.circle} end,
          case when n > 1 then (n - 2) / ${childrenPerHolon} + 1 end,
          jsonb_build_object('website', 'https://example.org/holons/' || n)
        from generate_series(1, ${sizes.holons}) as n`,
    },
    {
      what: `${journeys} journeys with steps and questions`,
      sql: `with journeys as (
          insert into directory.journeys (id, slug, name, description, is_conversation, public_visible, texts)
          select n, 'journey-' || n, 'Journey ' || ${padded('n')}, 'Four steps from the invitation to the published conversation.', true, true,
            jsonb_build_object('welcome', 'Welcome.', 'enter', 'Come in.', 'post', 'Thank you.', 'goodbyeURL', 'https://example.org/' || n)
          from generate_series(1, ${journeys}) as n
        ), steps as (
          insert into directory.journey_steps (id, journey_id, slug, title, goal, position, config)
          select (n - 1) * ${stepsPerJourney} + s, n, 'step-' || s, (array['Invited','Held','Edited','Published'])[s], 'The next step.', s - 1, '{}'
          from generate_series(1, ${journeys}) as n, generate_series(1, ${stepsPerJourney}) as s
        ), questions as (
          insert into directory.journey_questions (journey_id, text, position)
          select n, (array['What matters now?', 'What have we learned?', 'What comes next?'])[q], q - 1
          from generate_series(1, ${journeys}) as n, generate_series(1, 3) as q
        )
        insert into directory.holon_journeys (holon_id, journey_id, position)
        select ${eventOf(sizes, 'n')}, n, n from generate_series(1, ${journeys}) as n`,
    },
  ];
}

/**
 * Returns SQL for the conversations `first` to `last`. Each has a host, two guests, up to two linked holons, and a date
 * within three years. 1 in 100 has no start, 1 in 20 is open-ended, and 1 in 200 has more text than fits on a page.
 */
function conversationRows(sizes: SeedSizes, first: number, last: number): string {
  const hosts = hostCount(sizes);
  const visitor = (seed: number): string =>
    `${hosts} + 1 + ${pickNear(sizes, seed, neighbours.guests, sizes.people - hosts)}`;
  const sentence = 'They spoke about what had changed since the last meeting and what each of them would try next. ';
  return `insert into conversations.conversations
      (id, journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids, infos, config, room, created_at, updated_at)
    select n, journey, (journey - 1) * ${stepsPerJourney} + 1 + ${pick(4, stepsPerJourney)}, ${eventOf(sizes, 'journey')}, start_at,
      case when n % 20 > 0 then start_at + interval '90 minutes' end,
      case when guest = other then array[host, guest] else array[host, guest, other] end,
      case when ${pick(9, 10)} < 5 then '{}' when ${pick(9, 10)} < 9 then array[linked] else array[linked, linked % ${sizes.holons} + 1] end,
      jsonb_build_object(
        'theme', jsonb_build_array('spring', 'change'),
        'publishing', jsonb_build_object(
          'fields', jsonb_build_object(
            'title', jsonb_build_object('value', 'Conversation number ' || ${padded('n')}, 'provenance', jsonb_build_object('by', 'import', 'at', start_at)),
            'summary', substr(repeat('${sentence}', case when n % 200 = 0 then 120 else 10 end), 1,
              case when n % 200 = 0 then 12000 else 200 + ${pick(10, 700)} end),
            'videohost_description', 'A conversation of three people, recorded.'),
          'records', jsonb_build_object('videohost', jsonb_build_object(
            'url', 'https://video.example.org/' || n, 'thumbnail', 'https://video.example.org/' || n || '.jpg')),
          'artifacts', jsonb_build_object('imported_thumbnails', jsonb_build_array('https://images.example.org/' || n || '-1.jpg')))),
      jsonb_build_object(
        'booking', jsonb_build_object('uids', jsonb_build_array('uid-' || n), 'title', 'Meeting ' || n, 'location', 'integrations:daily'),
        'pipeline', jsonb_build_object('state', 'done', 'attempts', 1, 'finished_at', start_at)),
      case when n % 2 = 0 then jsonb_build_object('phase', 'exit-lounge', 'version', 7, 'meetingId', 'meeting-' || n,
        'claims', jsonb_build_object('Ada', jsonb_build_object('personId', host, 'claimedAt', start_at))) end,
      coalesce(start_at, '2024-01-01'), coalesce(start_at, '2024-01-01')
    from (
      select n, journey, 1 + ${pickNear(sizes, 5, neighbours.hosts, hosts)} as host, ${visitor(6)} as guest, ${visitor(7)} as other,
        1 + ${pickNear(sizes, 8, neighbours.holons, sizes.holons)} as linked,
        case when n % 100 > 0 then timestamptz '2024-01-01T00:00:00Z' + ${pick(11, 1_576_800)} * interval '1 minute' end as start_at
      from generate_series(${first}, ${last}) as n, lateral (select (n - 1) % ${journeyCount(sizes)} + 1 as journey) as own
    ) as numbers`;
}
