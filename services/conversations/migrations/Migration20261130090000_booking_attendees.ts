import { OnlineMigration } from '#libs/orm/migrations';

/**
 * Who a booking names, each attendee with the event that decided last (D78, D102); on whose hooks it came and by which numbers it may be found
 * there (D79); and requests that link a booking to the one that follows it. Numbers stay in `booking_identifiers` as well for the previous release.
 */
export class Migration20261130090000_booking_attendees extends OnlineMigration {
  override up(): void {
    for (const sql of [bookingColumns, bookingIndex, attendees, hosts, references, links].flat()) this.addSql(sql);
    this.addBackfill({
      table: 'conversations.bookings',
      key: 'id',
      sql: `insert into conversations.booking_references (identifier, booking_id)
        select identifier, booking_id from conversations.booking_identifiers
        where booking_id > $1 and booking_id <= $2 and left(identifier, 4) <> 'uid:'
        on conflict do nothing`,
    });
    this.addBackfill({
      table: 'conversations.webhook_receipts',
      key: 'id',
      sql: `insert into conversations.booking_hosts (booking_id, person_id)
        select distinct b.id, r.person_id::integer from conversations.webhook_receipts r
          join conversations.bookings b on b.conversation_id = r.conversation_id
          where r.id > $1 and r.id <= $2 and r.source = 'booking' and r.person_id ~ '^[1-9][0-9]{0,8}$'
        on conflict do nothing`,
    });
    this.addBackfill({
      table: 'conversations.bookings',
      key: 'id',
      sql: `insert into conversations.booking_hosts (booking_id, person_id)
        select b.id, c.participant_ids[1] from conversations.bookings b join conversations.conversations c on c.id = b.conversation_id
          where b.id > $1 and b.id <= $2 and cardinality(c.participant_ids) > 0
        on conflict do nothing`,
    });
  }
}

const bookingColumns = `alter table conversations.bookings
  add column has_seats boolean not null default false,
  add column seats_since timestamptz,
  add column requested_at timestamptz,
  add column former_conversation_id integer,
  add column was_erased_from boolean not null default false`;

const bookingIndex = `create index concurrently bookings__requested_at__index on conversations.bookings (requested_at) where requested_at is not null`;

const attendees = [
  `create table conversations.booking_attendees (
    booking_id integer not null references conversations.bookings on delete cascade,
    attendee text not null,
    person_id integer,
    state text not null constraint booking_attendees__state__check check (state in ('in', 'moved', 'gone')),
    at timestamptz not null,
    primary key (booking_id, attendee)
  )`,
  `comment on column conversations.booking_attendees.attendee is 'digest of the email, the phone number or the name'`,
  `create index booking_attendees__person_id__index on conversations.booking_attendees (person_id)`,
];

const hosts = [
  `create table conversations.booking_hosts (
    booking_id integer not null references conversations.bookings on delete cascade,
    person_id integer not null,
    primary key (booking_id, person_id)
  )`,
  `create index booking_hosts__person_id__index on conversations.booking_hosts (person_id)`,
];

const references = [
  `create table conversations.booking_references (
    identifier text not null,
    booking_id integer not null references conversations.bookings on delete cascade,
    primary key (identifier, booking_id)
  )`,
  `create index booking_references__booking_id__index on conversations.booking_references (booking_id)`,
];

const links = [
  `create table conversations.booking_links (
    uid text not null,
    former_uid text not null,
    attendees text[] not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    primary key (uid, former_uid)
  )`,
  `create index booking_links__former_uid__index on conversations.booking_links (former_uid)`,
];
