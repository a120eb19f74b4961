/**
 * Rows of a network for the open API. The number of rows that a request matches does not depend on the size: each
 * planted word is in 20 people and 20 holons, a target holon has 50 members, and a target person has 6 memberships and
 * 10 notes. Only the other rows grow with the size.
 */
import type { Seed } from './fill.ts';

export interface NetworkSizes {
  /** A multiple of 1,000. */
  people: number;
  /** A multiple of 1,000. */
  holons: number;
}

/** Number of objects of each type that the measured requests use. */
export const targetCount = 10;
/** Number of rows that contain the same planted word. */
export const matchesOfWord = 20;
export const membersOfTarget = 50;
export const journeyCount = 100;
const stepsPerJourney = 4;
const membershipsOfPerson = 6;
const notesOfPerson = 10;
const childrenPerHolon = 10;
const relationshipsOfTarget = 20;
const workOfResponsible = 20;
/** Follow-up dates are at most this many days before or after the day of filling. */
const followUpDays = 40;
const classIds = { place: 1, circle: 2, closedCircle: 3, workshop: 4, guild: 5 } as const;

/** Returns the number of people with memberships, which are the people with an even id. */
const activePeople = ({ people }: NetworkSizes): number => people / 2;
export const membershipCount = (sizes: NetworkSizes): number => activePeople(sizes) * membershipsOfPerson;
export const relationshipCount = (sizes: NetworkSizes): number => 2 * sizes.holons;
export const noteCount = (sizes: NetworkSizes): number => activePeople(sizes) * notesOfPerson;

/** Returns SQL for a reproducible number below `limit` for the row `n`. */
const pick = (seed: number, limit: number, n = 'n'): string =>
  `((hashint4extended(${n}, ${seed}) & 2147483647) % ${limit})::integer`;

const syllables = 20;
/** Number of endings that remain for the other words, since at most two planted words have the same middle. */
const otherEndCount = syllables - 2;
const beginnings = [
  'Ber',
  'Han',
  'Lin',
  'Mar',
  'Stei',
  'Wal',
  'Gro',
  'Kal',
  'Ros',
  'Win',
  'Fel',
  'Hol',
  'Jan',
  'Nor',
  'Pet',
  'Sand',
  'Tor',
  'Ul',
  'Vin',
  'Eng',
];
const middles = [
  'ber',
  'der',
  'gen',
  'hau',
  'ken',
  'ler',
  'man',
  'nin',
  'ran',
  'sen',
  'tel',
  'wen',
  'bel',
  'din',
  'fen',
  'gar',
  'hel',
  'lan',
  'mer',
  'nor',
];
const ends = [
  'berg',
  'dal',
  'feld',
  'gaard',
  'holm',
  'hoff',
  'lund',
  'mann',
  'nes',
  'quist',
  'rud',
  'son',
  'stad',
  'strom',
  'ton',
  'vik',
  'wald',
  'wood',
  'thal',
  'stein',
];

/** Columns in which a word is planted. */
const plantedKinds = ['name', 'description', 'channel'] as const;
type PlantedKind = (typeof plantedKinds)[number];
const middleOf = (kind: PlantedKind, target: number): number =>
  (3 * target + plantedKinds.indexOf(kind) + 1) % syllables;
const endOf = (kind: PlantedKind, target: number): number => (target + middleOf(kind, target)) % syllables;

/**
 * Returns a word whose last two syllables are adjacent in no other word, so that a search for the word finds only its
 * rows.
 */
export function plantedWord(kind: PlantedKind, target: number): string {
  return `${beginnings[target]}${middles[middleOf(kind, target)]}${ends[endOf(kind, target)]}`;
}
/** Endings that follow a middle in all other words. */
const otherEnds = middles.map((_, middle) => {
  const planted = plantedKinds.flatMap((kind) =>
    Array.from({ length: targetCount }, (__, target) => (middleOf(kind, target) === middle ? endOf(kind, target) : -1)),
  );
  return ends.filter((_end, end) => !planted.includes(end)).slice(0, otherEndCount);
});
/** Returns two characters that are adjacent in no other text. */
export const plantedPair = (target: number): string => `x${String.fromCodePoint(98 + target)}`;

const sqlList = (texts: readonly string[]): string => `array['${texts.join(`','`)}']`;
const words = (kind: PlantedKind): string =>
  sqlList(Array.from({ length: targetCount }, (_, target) => plantedWord(kind, target)));
const pairs = sqlList(Array.from({ length: targetCount }, (_, target) => plantedPair(target)));

/**
 * Returns the distance between two rows that contain words of one kind. `plantedAt` returns the target whose word the
 * row contains, or null.
 */
const strideOf = (rows: number): number => rows / (targetCount * matchesOfWord);
const plantedAt = (rows: number, offset: number): string =>
  `case when n % ${strideOf(rows)} = ${offset} then n / ${strideOf(rows)} % ${targetCount} + 1 end`;

/** Returns SQL for the rows 1 to `rows`, each with a word of three syllables and, possibly, its planted word. */
function texts(rows: number): string {
  return `(select *, (${sqlList(beginnings)})[1 + a] || (${sqlList(middles)})[1 + b] || (array[${otherEnds.map(sqlList).join(',')}])[1 + b][1 + c] as word
    from (select n, ${pick(1, syllables)} as a, ${pick(2, syllables)} as b, ${pick(3, otherEndCount)} as c, ${plantedAt(rows, 0)} as in_name,
        ${plantedAt(rows, 1)} as in_description, ${plantedAt(rows, 2)} as in_channel, ${plantedAt(rows, 3)} as in_pair
      from generate_series(1, ${rows}) as n offset 0) as numbers offset 0) as texts`;
}
const surname = `coalesce((${words('name')})[in_name], word)`;
const shortName = `coalesce(initcap((${pairs})[in_pair]) || ' ', '')`;
const interest = `coalesce((${words('description')})[in_description], 'gardens')`;
const site = `lower(coalesce((${words('channel')})[in_channel], word || n))`;
const times = `timestamptz '2024-01-01T00:00:00Z' + n % 1000000 * interval '1 minute', timestamptz '2025-12-01T00:00:00Z' + ${pick(4, 400_000)} * interval '1 minute'`;

/** Returns the number of a target holon, which has 50 members and 20 relationships. Targets are counted from 0. */
const targetHolon = (sizes: NetworkSizes, target: string): string =>
  `(${strideOf(sizes.holons)} * (100 + ${target}) + 4)`;
export const targetHolonId = (sizes: NetworkSizes, target: number): number =>
  strideOf(sizes.holons) * (100 + target) + 4;
/** Returns the id of a person with memberships. */
export const personTarget = (sizes: NetworkSizes, target: number): number =>
  (sizes.people / targetCount / 10) * (3 + 7 * target) - (((sizes.people / targetCount / 10) * (3 + 7 * target)) % 2);
/** Returns the id of a person with a worklist. */
export const responsibleTarget = (target: number): number => 51 + 100 * target;
const isTargetHolon = (sizes: NetworkSizes): string =>
  `(n % ${strideOf(sizes.holons)} = 4 and n / ${strideOf(sizes.holons)} between 100 and ${99 + targetCount})`;
/** Returns SQL for the id of any holon except the targets. */
function otherHolon(sizes: NetworkSizes, seed: number, n: string): string {
  const any = `(1 + ${pick(seed, sizes.holons, n)})`;
  return `(${any} - (${any} % ${strideOf(sizes.holons)} = 4)::integer)`;
}

const followUp = `case when ${pick(14, 4)} > 0 then current_date + ${pick(5, 2 * followUpDays)} - ${followUpDays} end`;
/**
 * Returns SQL for the responsible person: every `share`-th row is assigned to a target, and half of the other rows to
 * another person.
 */
function responsible(sizes: NetworkSizes, rows: number): string {
  const share = rows / (targetCount * workOfResponsible);
  return `case when n % ${share} = 0 then 51 + 100 * (n / ${share} % ${targetCount})
    when n % 2 = 0 then 1 + 100 * ${pick(6, sizes.people / 100)} end`;
}
const stepOf = (journey: string): string => `(${journey} - 1) * ${stepsPerJourney} + 1 + ${pick(7, stepsPerJourney)}`;

export function networkSeed(sizes: NetworkSizes): Seed {
  return {
    tables: [
      'people',
      'people_channel_values',
      'holons',
      'holons_channel_values',
      'memberships',
      'relationships',
      'notes',
      'person_notes',
      'holon_notes',
    ].map((table) => `directory.${table}`),
    identities: [
      'people',
      'object_classes',
      'journeys',
      'journey_steps',
      'holons',
      'memberships',
      'relationships',
      'notes',
    ].map((table) => `directory.${table}`),
    steps: [
      {
        what: 'triggers and foreign keys off: what they would keep is filled below',
        sql: 'set local session_replication_role = replica',
      },
      ...recordSteps(sizes),
      ...workflowSteps(sizes),
      ...configuredSteps(),
      { what: 'triggers on', sql: 'set local session_replication_role = origin' },
    ],
  };
}

function recordSteps(sizes: NetworkSizes): Seed['steps'] {
  const inner = sizes.holons / childrenPerHolon;
  const classOf = `case when ${isTargetHolon(sizes)} then ${classIds.circle}
    when n % ${strideOf(sizes.holons)} = 4 and n / ${strideOf(sizes.holons)} < ${matchesOfWord} then ${classIds.guild} when n <= ${inner} then ${classIds.place}
    when n % 10 = 9 then ${classIds.closedCircle} when n % 3 = 0 then ${classIds.workshop} else ${classIds.circle} end`;
  return [
    {
      what: `${sizes.people} people`,
      sql: `insert into directory.people (id, key, name, description, photo_url, contact, created_at, updated_at)
        select n, 'person-' || n, first || ' ' || ${shortName} || ${surname}, 'Lives in ' || word || ' and cares for ' || ${interest} || '.',
          case when n % 2 = 0 then 'https://images.example.org/people/' || n || '.jpg' end,
          jsonb_build_object('email', lower(first || '.' || word) || n || '@example.org', 'website', 'https://' || ${site} || '.example.org'), ${times}
        from ${texts(sizes.people)},
          lateral (select (array['Ada','Bo','Carla','Dov','Ebru','Femi','Gita','Hugo','Ines','Jun','René','Zoë'])[1 + ${pick(8, 12)}] as first) as names`,
    },
    {
      what: 'classes and journeys',
      sql: `with classes as (
          insert into directory.object_classes (id, slug, label, plural_label, parent_id, private, effective_private, ancestor_ids) values
            (${classIds.place}, 'place', 'Place', 'Places', null, false, false, '{}'),
            (${classIds.circle}, 'circle', 'Circle', 'Circles', null, false, false, '{}'),
            (${classIds.closedCircle}, 'closed-circle', 'Closed circle', 'Closed circles', ${classIds.circle}, true, true, '{${classIds.circle}}'),
            (${classIds.workshop}, 'workshop', 'Workshop', 'Workshops', ${classIds.circle}, false, false, '{${classIds.circle}}'),
            (${classIds.guild}, 'guild', 'Guild', 'Guilds', null, false, false, '{}')
        ), journeys as (
          insert into directory.journeys (id, slug, name, description, svc_app)
          select n, 'journey-' || n, 'Journey ' || n, 'Four steps.', 'app-' || n % 5 from generate_series(1, ${journeyCount}) as n
        ), steps as (
          insert into directory.journey_steps (id, journey_id, slug, title, goal, position)
          select (n - 1) * ${stepsPerJourney} + s, n, 'step-' || s, 'Step ' || s, 'The next one.', s - 1
          from generate_series(1, ${journeyCount}) as n, generate_series(1, ${stepsPerJourney}) as s
        )
        insert into directory.class_journeys (class_id, journey_id, position)
        select c, n, n from generate_series(1, 5) as c, generate_series(1, ${journeyCount}) as n where n % 5 = c - 1`,
    },
    {
      what: `${sizes.holons} holons`,
      sql: `insert into directory.holons (id, slug, name, description, class_id, parent_id, links, created_at, updated_at)
        select n, 'holon-' || n, ${shortName} || ${surname} || (array[' Circle',' House',' Gathering',' Meadow'])[1 + ${pick(9, 4)}],
          'A place in ' || word || ' for people who like ' || ${interest} || '.', ${classOf}, case when n > 1 then (n - 2) / ${childrenPerHolon} + 1 end,
          jsonb_build_object('website', 'https://' || ${site} || '.example.org'), ${times}
        from ${texts(sizes.holons)}`,
    },
  ];
}

function workflowSteps(sizes: NetworkSizes): Seed['steps'] {
  const [active, memberships, relationships] = [activePeople(sizes), membershipCount(sizes), relationshipCount(sizes)];
  const memberStride = active / (targetCount * membersOfTarget);
  const otherStride = relationships / (targetCount * relationshipsOfTarget);
  return [
    {
      what: `${memberships} memberships`,
      sql: `insert into directory.memberships (id, person_id, holon_id, journey_id, step_id, follow_up_after, responsible_person_id, holon_class_id)
        select n, person, h.id, journey, ${stepOf('journey')}, ${followUp}, ${responsible(sizes, memberships)}, h.class_id
        from (select n, 2 * (1 + (n - 1) % ${active}) as person,
            case when planted then 1 + n / ${memberStride * targetCount} % 5 else 1 + ((n - 1) % ${active} * 7 + (n - 1) / ${active}) % ${journeyCount} end as journey,
            case when planted then ${targetHolon(sizes, `(n / ${memberStride} % ${targetCount})`)} else ${otherHolon(sizes, 10, 'n')} end as holon
          from (select n, n <= ${active} and n % ${memberStride} = 0 as planted from generate_series(1, ${memberships}) as n) as numbers) as rows
        join directory.holons h on h.id = holon`,
    },
    {
      what: `${relationships} relationships`,
      sql: `insert into directory.relationships
          (id, from_holon_id, to_holon_id, journey_id, step_id, follow_up_after, responsible_person_id, from_class_id, to_class_id)
        select n, f.id, t.id, journey, ${stepOf('journey')}, ${followUp}, ${responsible(sizes, relationships)}, f.class_id, t.class_id
        from (select n, 1 + (n - 1) % ${sizes.holons} as source, 1 + n % ${journeyCount} as journey,
            case when n % ${otherStride} = 0 then ${targetHolon(sizes, `(n / ${otherStride} % ${targetCount})`)} else ${otherHolon(sizes, 11, 'n')} end as target
          from generate_series(1, ${relationships}) as n) as rows
        join directory.holons f on f.id = source join directory.holons t on t.id = target`,
    },
    {
      what: 'statistics',
      sql: 'analyze directory.people, directory.holons, directory.memberships, directory.relationships',
    },
    {
      what: `${noteCount(sizes)} notes`,
      sql: `insert into directory.notes (id, body, note_type, created_at, author_person_id, membership_id)
        select n, 'We spoke about what comes next, and agreed to meet again before the end of the season. Number ' || n || '.', 'note',
          timestamptz '2024-01-01T00:00:00Z' + ${pick(12, 1_000_000)} * interval '1 minute', 1 + ${pick(13, sizes.people)}, 1 + (n - 1) % ${memberships}
        from generate_series(1, ${noteCount(sizes)}) as n`,
    },
    { what: 'statistics', sql: 'analyze directory.notes' },
    ...(['person', 'holon'] as const).map((owner) => ({
      what: `feeds of notes, by ${owner}`,
      sql: `insert into directory.${owner}_notes (${owner}_id, note_id, created_at)
        select m.${owner}_id, n.id, n.created_at from directory.notes n join directory.memberships m on m.id = n.membership_id`,
    })),
  ];
}

/**
 * Tables that triggers maintain: channel values, usage counts, tallies (docs/performance-notes.md#worklist-tallies).
 */
function configuredSteps(): Seed['steps'] {
  const channels = [
    ['people', 'contact'],
    ['holons', 'links'],
  ].map(([table, column]) => ({
    what: `values of channels of ${table}`,
    sql: `insert into directory.${table}_channel_values (owner_id, value, search_name)
      select distinct r.id, directory.fold_start(channel.value, 500), directory.fold_start(r.name, 150)
      from directory.${table} r, jsonb_each_text(r.${column}) as channel where channel.value <> ''`,
  }));
  const counts = [
    ['journey_memberships', 'memberships', 'journey_id'],
    ['step_memberships', 'memberships', 'step_id'],
    ['journey_relationships', 'relationships', 'journey_id'],
    ['step_relationships', 'relationships', 'step_id'],
    ['class_holons', 'holons', 'class_id'],
  ].map(([what, table, column]) => ({
    what: `counts of use: ${what}`,
    sql: `insert into directory.usage_counts (what, id, amount) select '${what}', ${column}, count(*) from directory.${table} group by ${column}`,
  }));
  const tallies = [
    ['memberships', 'membership_tallies', 'holon_class_id'],
    ['relationships', 'relationship_tallies', 'from_class_id, to_class_id'],
  ].map(([table, tally, keys]) => ({
    what: `tallies of ${table}`,
    sql: `insert into directory.${tally} (${keys}, whole, follow_up_after, amount)
      select ${keys}, whole, case when not whole then follow_up_after end, count(*)
      from directory.${table} cross join (values (true), (false)) as grain(whole)
      group by ${keys}, whole, case when not whole then follow_up_after end`,
  }));
  return [...channels, ...counts, ...tallies];
}
