/** Words of the commands that plinth tells people to run. */

/** Quotes a text as one word of a command that a person may paste into a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Ids of prepared projects begin so, and eight characters follow. They were made before anybody gave a name. */
export const preparedSlug = 'pool';

const isPrepared = new RegExp(`^${preparedSlug}-[0-9a-z]{8}$`);

/** What a command calls a bootstrap by: the project's id, which is its own for ever. That of a prepared project says nothing, so then by name. */
export const calledBy = ({ name, projectId }: { readonly name: string; readonly projectId: string }): string =>
  isPrepared.test(projectId) ? shellWord(name) : projectId;
