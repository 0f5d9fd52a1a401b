import { expect } from 'chai';
import {
  flagName,
  flagOf,
  isLocal,
  isSecret,
  optionNames,
  redactOptions,
  variableOf,
} from '../../shared/bootstrap/options.js';

/** As the reference has them: flag, type, default; `*`: required. */
const reference = `
--project-name string *
--billing-account string *
--base-domain string *
--folder-id string
--region string europe-west4
--zone string europe-west4-a
--project-ttl string 2h
--root-disk-size int 50
--preemptible bool false
--spot-vms bool false
--multi-dc bool false
--datacenter-id int 1
--datacenter-name string dev
--custom-pg-ip string
--kube-distro-version string v1.31.14+k0s.0
--dns-project-id string
--dns-zone-name string tool-testing
--acme-staging bool false
--cloud-acme-issuer bool false
--install-config string config.yaml
--install-hash string
--install-local string
--install-version string
--install-skip-steps list
--write-config bool true
--recover-config bool false
--remote-cli-binary string
--pc-apps-values list
--feature-flags list
--internal-flags list headless-services,vcluster,custom-service-image,ms-in-ls
--preview-flags list openfga-authz,cluster-admin,secret-management,sub-path-mount,workspace-ssh,virtual-machines
--cluster-admin-email string
--create-test-user bool false
--timer bool false
--help bool false
--registry-type string forge1
--registry-user string
--airgapped bool false
--forge1-app-client-id string *
--forge1-app-client-secret string *
--forge1-app-name string
--forge1-pat string
--forge1-team-org string
--forge1-team-slug string
--forge2-app-client-id string
--forge2-app-client-secret string
--forge3-app-client-id string
--forge3-app-client-secret string
--forge4-app-client-id string
--forge4-app-client-secret string
--oidc-client-id string
--oidc-client-secret string
--oidc-issuer-url string
--oidc-provider-name string
--vault-uri string
--vault-user string admin
--vault-password string
--vault-engine string cs-secrets-engine
--secrets-dir string /etc/platform/secrets
--secrets-file string prod.vault.yaml
--central-otel-endpoint string
--central-otel-username string
--central-otel-password string
--central-otel-span-metrics bool false
--local-trace-endpoint string
--external-logstore-endpoint string
--external-logstore-user string
--external-logstore-secret string
--metrics-remote-write-url string
--metrics-remote-write-user string
--metrics-remote-write-password string
--ssh-private-key-path string ~/.ssh/id_rsa
--ssh-public-key-path string ~/.ssh/id_rsa.pub
--ssh-quiet bool false
--verbose bool false
`
  .trim()
  .split('\n');

describe('the flag table', () => {
  it('has the 75 flags of the reference, each once, with its type and default', () => {
    const table = optionNames.map((option) => {
      const { kind, required, default: fallback } = flagOf(option);
      const value = Array.isArray(fallback) ? fallback.join(',') : fallback;
      const last = required ? ' *' : value === undefined || value === '' ? '' : ` ${value}`;
      return `${flagName(option)} ${kind}${last}`;
    });
    expect(table).to.have.lengthOf(75);
    expect(table).to.have.members(reference);
  });

  it('accepts its own defaults', () => {
    for (const option of optionNames) {
      const { default: fallback, schema } = flagOf(option);
      if (fallback !== undefined) expect(schema.parse(fallback), option).to.deep.equal(fallback);
    }
  });

  it('has one short name for skipping steps and one for help', () => {
    const short = optionNames.flatMap((option) => flagOf(option).short ?? []);
    expect(short).to.deep.equal(['s', 'h']);
  });

  it('knows as secret what opens something', () => {
    expect(optionNames.filter(isSecret).map(variableOf)).to.deep.equal([
      'PLINTH_FORGE1_APP_CLIENT_SECRET',
      'PLINTH_FORGE1_PAT',
      'PLINTH_FORGE2_APP_CLIENT_SECRET',
      'PLINTH_FORGE3_APP_CLIENT_SECRET',
      'PLINTH_FORGE4_APP_CLIENT_SECRET',
      'PLINTH_OIDC_CLIENT_SECRET',
      'PLINTH_VAULT_PASSWORD',
      'PLINTH_CENTRAL_OTEL_PASSWORD',
      'PLINTH_EXTERNAL_LOGSTORE_SECRET',
      'PLINTH_METRICS_REMOTE_WRITE_PASSWORD',
    ]);
  });

  it('masks secrets and nothing else', () => {
    const given = Object.fromEntries(optionNames.map((option) => [option, `value of ${option}`]));
    const shown = redactOptions({ ...given, forge2AppClientSecret: undefined, unknown: 'x' });
    for (const option of optionNames) {
      const masked = isSecret(option) ? '<secret>' : `value of ${option}`;
      expect(shown[option]).to.equal(option === 'forge2AppClientSecret' ? undefined : masked);
    }
    expect(shown['unknown']).to.equal('x');
  });

  it('has no secret that stays on the machine of the caller', () => {
    expect(optionNames.filter((option) => isSecret(option) && isLocal(option))).to.deep.equal([]);
  });
});
