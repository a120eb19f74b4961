import { Migration } from '#libs/orm';

/**
 * What a conversation holds as JSON has a size (D63), whoever writes it. Triggers and no check constraints: what is too large already may
 * stay as it is while something else of its row changes. The text is only made of what is not small in any case: it is at most a few
 * hundred times as long as the stored value, with numbers of a thousand digits that take a few bytes.
 */
export class Migration20260401090000_data_size extends Migration {
  override up(): void {
    this.addSql(`create function conversations.refuse_too_large() returns trigger language plpgsql as $$
      begin
        raise exception 'the JSON text of % is too large', tg_argv[0]
          using errcode = 'check_violation', constraint = 'conversations__' || tg_argv[0] || '__size';
      end $$`);
    this.addSql(`comment on function conversations.refuse_too_large() is 'refuses the row; the argument names what is too large (D63)'`);
    // As it is served: the room state stands in the configuration under a key of its own.
    this.addSql(`create function conversations.config_bytes(config jsonb, room jsonb) returns integer language sql immutable as $$
      select octet_length(config::text) + coalesce(octet_length(room::text) + case when config = '{}' then 18 else 20 end, 0) $$`);
    for (const [name, columns, stored, bytes] of sizes) {
      const isTooLarge = `${stored} > ${smallBytes} and ${bytes} > ${maxBytes}`;
      const isChanged = columns.map((column) => `new.${column} is distinct from old.${column}`).join(' or ');
      const refuse = `for each row when (%) execute function conversations.refuse_too_large('${name}')`;
      this.addSql(`create trigger conversations__${name}__size_inserted before insert on conversations.conversations
        ${refuse.replace('%', isTooLarge)}`);
      this.addSql(`create trigger conversations__${name}__size_updated before update of ${columns.join(', ')} on conversations.conversations
        ${refuse.replace('%', `${isTooLarge} and (${isChanged})`)}`);
    }
  }
}

/** 1 MiB. */
const maxBytes = 1_048_576;
/** Stored values up to this size cannot be too large as text. */
const smallBytes = 4_000;

const sizes: readonly (readonly [name: string, columns: readonly string[], stored: string, bytes: string])[] = [
  ['infos', ['infos'], 'pg_column_size(new.infos)', 'octet_length(new.infos::text)'],
  [
    'config',
    ['config', 'room'],
    'pg_column_size(new.config) + coalesce(pg_column_size(new.room), 0)',
    'conversations.config_bytes(new.config, new.room)',
  ],
  ['question_state', ['question_state'], 'pg_column_size(new.question_state)', 'octet_length(new.question_state::text)'],
];
