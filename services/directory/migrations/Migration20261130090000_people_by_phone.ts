import { OnlineMigration } from '#libs/orm/migrations';

/** Guests of a booking who gave a phone number alone are found by its digits, without the zeros of an international prefix (D83). */
export class Migration20261130090000_people_by_phone extends OnlineMigration {
  override up(): void {
    this.addSql(`create index concurrently people__contact_phone__index on directory.people
      (regexp_replace(regexp_replace(contact ->> 'phone', '\\D', '', 'g'), '^00', '')) where contact ->> 'phone' is not null`);
  }
}
