import { auditTables } from '#libs/infrastructure/audit';
import { failedJobs, sentRemoteJobs, jobAttempts, redactStoredErrors } from '#libs/infrastructure/jobs';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';
import { receiptSearchIndexes } from '#libs/product/webhooks';

/** Changes from release 0.1.0 to 0.2.0. */
export class Migration20261203090000_release_0_2_0 extends OnlineMigration {
  override up(): void {
    // Audit log
    for (const sql of auditTables('agents')) this.addSql(sql);

    // Job attempts
    for (const sql of jobAttempts('agents', 'concurrently')) this.addSql(sql);

    // Receipt search
    for (const sql of receiptSearchIndexes('agents', false)) this.addSql(sql);

    // Operators take threads over and write in them (H1).
    this.addSql(`alter table agents.messages add column account_id integer`);
    this.addSql(
      `comment on column agents.messages.account_id is 'of a chat_operator message: who wrote it; null = with the admin CLI'`,
    );
    this.addSql(
      `alter table agents.messages
       drop constraint messages__note_type__check,
       add constraint messages__note_type__check check (note_type in ('chat_visitor', 'chat_agent', 'chat_operator')) not valid,
       add constraint messages__account_id__check check (account_id is null or note_type = 'chat_operator') not valid`,
    );
    this.addSql(`alter table agents.messages validate constraint messages__note_type__check`);
    this.addSql(`alter table agents.messages validate constraint messages__account_id__check`);
    this.addSql(
      `comment on table agents.messages is 'a turn is a chat_visitor message and the chat_agent message that answers it, written together; while a person has the thread each message is a turn'`,
    );
    this.addSql(`
      create table agents.thread_takeovers (
        id bigint generated always as identity primary key,
        thread_id bigint not null references agents.threads (id) on delete cascade,
        account_id integer,
        taken_at timestamptz not null default clock_timestamp(),
        ended_at timestamptz
      )`);
    this.addSql(
      `comment on table agents.thread_takeovers is 'when a person answered a thread in the place of the agent'`,
    );
    this.addSql(
      `comment on column agents.thread_takeovers.account_id is 'who has it; null = whoever uses the admin CLI'`,
    );
    this.addSql(`create index thread_takeovers__thread_id__index on agents.thread_takeovers (thread_id)`);
    this.addSql(
      `create unique index thread_takeovers__open__key on agents.thread_takeovers (thread_id) where ended_at is null`,
    );
    this.addSql(`
      create table agents.operator_sends (
        message_id bigint not null references agents.messages (id) on delete cascade,
        part integer not null,
        chat bigint not null references agents.telegram_chats (id) on delete cascade,
        status text not null default 'planned',
        plain boolean not null default false,
        chat_id bigint,
        sent_message_id bigint,
        error text,
        created_at timestamptz not null default clock_timestamp(),
        updated_at timestamptz not null default clock_timestamp(),
        primary key (message_id, part),
        constraint operator_sends__status__check
          check (status in ('planned', 'sending', 'sent', 'unknown', 'refused', 'blocked', 'given_up'))
      )`);
    this.addSql(
      `comment on table agents.operator_sends is 'parts of operators'' messages on their way to the messaging platform, as telegram_sends are of replies'`,
    );
    this.addSql(
      `create index operator_sends__chat__index on agents.operator_sends (chat, message_id, part) where status in ('planned', 'sending')`,
    );
    this.addSql(
      `create index concurrently threads__updated_at__index on agents.threads (updated_at desc, id desc) where turn_count > 0`,
    );
    this.addSql(
      `create index concurrently threads__agent_id__updated_at__index on agents.threads (agent_id, updated_at desc, id desc) where turn_count > 0`,
    );

    // Handed over jobs
    for (const sql of sentRemoteJobs('agents')) this.addSql(sql);

    // What came with an update, but for its secret (P4).
    this.addSql(`alter table agents.webhook_receipts add column headers jsonb not null default '{}'`);

    // Failed jobs
    for (const sql of failedJobs('agents', 'concurrently')) this.addSql(sql);

    // What somebody wrote as an operator, for the export of one person.
    this.addSql(
      `create index concurrently messages__account_id__index on agents.messages (account_id) where account_id is not null`,
    );

    // A chat that is forgotten leaves its receipts, which are found by it.
    this.addSql(
      `create index concurrently webhook_receipts__of_chat__index on agents.webhook_receipts (chat) where chat is not null`,
    );

    // By what a kept update of an unknown agent is judged once the agent is there (P8).
    this.addSql('alter table agents.webhook_receipts add column secret_digest text');

    // Job errors of earlier releases, without secrets.
    this.addWork((query) => redactStoredErrors('agents', query));

    // Whether language models leave thoughts in their answers that no marker opens (D84).
    this.addSql(`
      create table agents.thinking_habits (
        model text primary key,
        plain_answers integer not null
      )`);
    this.addSql(
      `comment on table agents.thinking_habits is 'latest whole answers in a row without unopened thoughts, of a model at an address'`,
    );
  }
}
