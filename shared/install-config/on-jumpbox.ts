/**
 * Where the files of a datacenter are on the jumpbox. A step writes them, an install reads them, and the command line can
 * recover them.
 */
export interface FilesOnJumpbox {
  readonly config: string;
  readonly secretsDir: string;
  readonly secrets: string;
  readonly identity: string;
}

/** The options of the bootstrap. It has one place for all, because it says where the secrets are. */
export const optionsOnJumpbox = '/etc/platform/bootstrap.json';

/** `secretsDir` is the value of the flag. `suffix` belongs to the datacenter: `''` or `-dc2`. */
export function filesOnJumpbox(secretsDir: string, suffix: string): FilesOnJumpbox {
  return { config: `/etc/platform/config${suffix}.yaml`, ...secretsFilesIn(`${secretsDir}${suffix}`) };
}

export const secretsFilesIn = (folder: string): Omit<FilesOnJumpbox, 'config'> => ({
  secretsDir: folder,
  secrets: `${folder}/prod.vault.yaml`,
  identity: `${folder}/age_key.txt`,
});
