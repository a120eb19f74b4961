import { Migration } from '#libs/orm/migrations';

/** Chats of the messaging platform, receipts of its updates, and the sends of their replies. */
export class Migration20260302090000_telegram extends Migration {
  override up(): void {
    this.addSql(`
      create table agents.telegram_chats (
        id bigint generated always as identity primary key,
        agent_id integer not null references agents.agents (id) on delete cascade,
        chat_id bigint not null,
        migrated_to bigint,
        blocked_at timestamptz,
        blocked_reason text,
        job_id uuid,
        fence bigint not null default 0,
        created_at timestamptz not null default clock_timestamp(),
        constraint telegram_chats__agent_id__chat_id__key unique (agent_id, chat_id),
        constraint telegram_chats__migrated_to__check check (migrated_to <> chat_id)
      )`);
    this.addSql(`comment on column agents.telegram_chats.migrated_to is 'number of the supergroup that the group has become'`);
    this.addSql(
      `comment on column agents.telegram_chats.blocked_at is 'the bot may not write there; null again when somebody writes to it'`,
    );
    this.addSql(`comment on column agents.telegram_chats.job_id is 'the one job that works the updates of the chat; null = none waits'`);
    this.addSql(`comment on column agents.telegram_chats.fence is 'grows with every attempt: an older attempt writes nothing more'`);
    this.addSql(`
      create table agents.webhook_receipts (
        id bigint generated always as identity (start with 1000000001) primary key,
        dedupe_key text not null,
        delivery_id text not null,
        deliveries integer not null default 1,
        received_at timestamptz not null,
        stored_at timestamptz not null default clock_timestamp(),
        stream_sequence bigint not null,
        agent_slug text not null,
        agent_id integer references agents.agents (id) on delete set null,
        update_id bigint,
        kind text,
        chat_id bigint,
        sender_id bigint,
        chat bigint references agents.telegram_chats (id) on delete set null,
        body bytea,
        outcome text not null,
        message text,
        settles_as text,
        reply_html text,
        echo text,
        processed_at timestamptz,
        constraint webhook_receipts__dedupe_key__key unique (dedupe_key),
        constraint webhook_receipts__echo__check check (echo in ('sending', 'sent', 'failed'))
      )`);
    this.addSql(`comment on column agents.webhook_receipts.stream_sequence is 'place in the stream of webhooks: the order of acceptance'`);
    this.addSql(`comment on column agents.webhook_receipts.chat is 'queue of the chat that works the update; null = it needs no order'`);
    this.addSql(`comment on column agents.webhook_receipts.settles_as is 'outcome when every part of reply_html is sent'`);
    this.addSql(`create index webhook_receipts__received_at__index on agents.webhook_receipts (received_at desc, id desc)`);
    this.addSql(`create index webhook_receipts__outcome__index on agents.webhook_receipts (outcome, id desc)`);
    this.addSql(`create index webhook_receipts__chat_id__index on agents.webhook_receipts (chat_id)`);
    this.addSql(`create index webhook_receipts__sender_id__index on agents.webhook_receipts (sender_id)`);
    this.addSql(
      `create index webhook_receipts__chat__index on agents.webhook_receipts (chat, update_id) where outcome in ('pending', 'answering')`,
    );
    this.addSql(`
      create table agents.telegram_sends (
        receipt_id bigint not null references agents.webhook_receipts (id) on delete cascade,
        part integer not null,
        status text not null default 'planned',
        plain boolean not null default false,
        bare boolean not null default false,
        chat_id bigint,
        message_id bigint,
        error text,
        updated_at timestamptz not null default clock_timestamp(),
        primary key (receipt_id, part),
        constraint telegram_sends__status__check
          check (status in ('planned', 'sending', 'sent', 'unknown', 'refused', 'blocked', 'given_up'))
      )`);
    this.addSql(
      `comment on table agents.telegram_sends is 'parts of replies; written as sending before each call, so that a crash leaves a trace'`,
    );
    this.addSql(`comment on column agents.telegram_sends.plain is 'the platform refused the HTML: the visible text is sent'`);
    this.addSql(`comment on column agents.telegram_sends.bare is 'sent without topic and without reference to the question'`);
  }
}
