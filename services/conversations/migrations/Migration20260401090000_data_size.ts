import { Migration } from '#libs/orm/migrations';

/**
 * What a conversation holds as JSON has a size (D63), whoever writes it. A trigger and no check constraints: what is too large already may
 * stay as it is while something else of its row changes. The function judges and not conditions of the trigger, which PostgreSQL parses anew
 * for every statement. The text is only made of what is not small in any case: it is at most a few hundred times as long as the stored
 * value, with numbers of a thousand digits that take a few bytes.
 */
export class Migration20260401090000_data_size extends Migration {
  override up(): void {
    // As it is served: the room state stands in the configuration under a key of its own.
    this.addSql(`create function conversations.config_bytes(config jsonb, room jsonb) returns integer language sql immutable as $$
      select octet_length(config::text) + coalesce(octet_length(room::text) + case when config = '{}' then 18 else 20 end, 0) $$`);
    this.addSql(`create function conversations.refuse_too_large() returns trigger language plpgsql as $$
      begin ${sizes.map(refuse).join('')}
        return new;
      end $$`);
    this.addSql(`comment on function conversations.refuse_too_large() is 'refuses a row with a column of JSON that is too large (D63)'`);
    const columns = sizes.flatMap((size) => size.columns).join(', ');
    this.addSql(`create trigger conversations__sizes before insert or update of ${columns} on conversations.conversations
      for each row execute function conversations.refuse_too_large()`);
  }
}

/** 1 MiB. */
const maxBytes = 1_048_576;
/** Stored values up to this size cannot be too large as text. */
const smallBytes = 4_000;

interface Size {
  readonly name: string;
  readonly columns: readonly string[];
  readonly stored: string;
  readonly bytes: string;
}

const sizes: readonly Size[] = [
  { name: 'infos', columns: ['infos'], stored: 'pg_column_size(new.infos)', bytes: 'octet_length(new.infos::text)' },
  {
    name: 'config',
    columns: ['config', 'room'],
    stored: 'pg_column_size(new.config) + coalesce(pg_column_size(new.room), 0)',
    bytes: 'conversations.config_bytes(new.config, new.room)',
  },
  {
    name: 'question_state',
    columns: ['question_state'],
    stored: 'pg_column_size(new.question_state)',
    bytes: 'octet_length(new.question_state::text)',
  },
];

/** A new row has no old values: all are distinct. */
const refuse = ({ name, columns, stored, bytes }: Size): string => `
        if ${stored} > ${smallBytes} and ${bytes} > ${maxBytes}
          and (${columns.map((column) => `new.${column} is distinct from old.${column}`).join(' or ')}) then
          raise exception 'the JSON text of ${name} is too large' using errcode = 'check_violation', constraint = 'conversations__${name}__size';
        end if;`;
