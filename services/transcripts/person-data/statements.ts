/** What a person said. Every person who speaks is a speaker of the transcript, which is how transcripts are found. */
import { statement } from '#libs/orm';

export interface SpokenRow {
  readonly conversation_id: number;
  readonly start_us: number;
  readonly position: number;
  readonly end_us: number;
  readonly text: string;
}

/** $1 = person, $2 to $4 = after this conversation, start and position, $5 = at most so many. */
export const listSpoken = statement(
  'person-data.spoken',
  `select r.conversation_id, r.start_us, r.position, r.end_us, r.text
   from (select distinct conversation_id from speakers where person_id = $1::integer and conversation_id >= $2::integer) as own
   join transcript_rows r on r.conversation_id = own.conversation_id and r.person_id = $1::integer
   where (r.conversation_id, r.start_us, r.position) > ($2::integer, $3::bigint, $4::integer)
   order by r.conversation_id, r.start_us, r.position limit $5::integer`,
);

/** $1 = person, $2 = after this conversation, $3 = at most so many. */
export const listSpokenConversations = statement(
  'person-data.conversations',
  `select distinct conversation_id as id from speakers where person_id = $1::integer and conversation_id > $2::integer
   order by conversation_id limit $3::integer`,
);

/** $1 = conversation, $2 = person, $3 = text instead; under the conversation's lock. One row with the number of changed rows. */
export const anonymise = statement(
  'person-data.anonymise',
  `with given as (
     select (select coalesce(max(number), 0) from speakers where conversation_id = $1::integer) + 1 as fresh
   ), nameless as (
     update speakers s set number = given.fresh + own.place, person_id = null, display_name = null
     from (select speaker_key, (row_number() over (order by speaker_key) - 1)::integer as place
           from speakers where conversation_id = $1::integer and person_id = $2::integer) as own, given
     where s.conversation_id = $1::integer and s.speaker_key = own.speaker_key
   ), spoken as (
     update transcript_rows r set text = $3::text, person_id = -given.fresh from given
     where r.conversation_id = $1::integer and r.person_id = $2::integer
     returning 1
   )
   select count(*)::integer as rows from spoken`,
);
