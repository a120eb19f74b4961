import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

/** Moments that no other row keeps: entered steps and the first state of a room (W9). */
export class Migration20261205083000_timeline extends OnlineMigration {
  override up(): void {
    this.addSql(`create table conversations.timeline_entries (
      id bigint generated always as identity,
      conversation_id integer not null,
      kind text not null,
      step_id integer,
      at timestamptz not null default clock_timestamp(),
      constraint timeline_entries__id__primary primary key (id),
      constraint timeline_entries__kind__known check (kind in ('step.entered', 'room.opened')),
      constraint timeline_entries__conversation_id__foreign foreign key (conversation_id)
        references conversations.all_conversations (id) on delete cascade
    )`);
    this.addSql(
      'create index timeline_entries__conversation_id__index on conversations.timeline_entries (conversation_id, id)',
    );
    this
      .addSql(`create unique index timeline_entries__room_opened__unique on conversations.timeline_entries (conversation_id)
      where kind = 'room.opened'`);
    this
      .addSql(`create index concurrently webhook_receipts__conversation_id__index on conversations.webhook_receipts (conversation_id, id)
      where conversation_id is not null`);
  }
}
