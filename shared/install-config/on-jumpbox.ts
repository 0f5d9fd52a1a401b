/** Where the files of a datacenter lie on the jumpbox: written there by a step, read by an install, and by the command line when it recovers them. */
export interface FilesOnJumpbox {
  readonly config: string;
  readonly secretsDir: string;
  readonly secrets: string;
  readonly identity: string;
}

/** `secretsDir` is that of the flag; `suffix` that of the datacenter: `''` or `-dc2`. */
export function filesOnJumpbox(secretsDir: string, suffix: string): FilesOnJumpbox {
  const folder = `${secretsDir}${suffix}`;
  return {
    config: `/etc/platform/config${suffix}.yaml`,
    secretsDir: folder,
    secrets: `${folder}/prod.vault.yaml`,
    identity: `${folder}/age_key.txt`,
  };
}
