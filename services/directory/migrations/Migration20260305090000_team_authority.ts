import { Migration } from '#libs/orm/migrations';

/**
 * Whether an account's active team authority covers a holon: the holon itself or one above it. As a function its plan is kept by the
 * connection; written into each statement, planning the way up took longer than most statements themselves.
 */
export class Migration20260305090000_team_authority extends Migration {
  override up(): void {
    this.addSql(`create function directory.has_team_authority(asked_holon integer, asked_account integer) returns boolean
      language plpgsql stable parallel safe cost 10000 as $$
      begin
        return exists (
          with recursive upwards as (
            select own.id, own.parent_id from directory.holons own where own.id = asked_holon
            union select above.id, above.parent_id from directory.holons above join upwards on above.id = upwards.parent_id
          )
          select from upwards join directory.team_authority team on team.holon_id = upwards.id
          where team.account_id = asked_account and team.is_active);
      end $$`);
  }
}
