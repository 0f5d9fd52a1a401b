# Secrets of the deployment itself. They have no value here: values would stand in terraform's state. The proof key is made
# by the first bootstrap, once and for ever, the cursor key with the first page of a list; whoever wants a webhook or a console
# adds what those need. Secrets of bootstraps are made and removed by the functions.

locals {
  # What ids of bootstraps begin with, and so the names of their secrets; none of those below.
  bootstrap_id_prefix = "b"

  secrets = {
    proofKey      = "plinth-proof-key"
    webhookKey    = "plinth-webhook-key"
    cursorKey     = "plinth-cursor-key"
    consoleClient = "plinth-console-client"
  }
}

resource "google_secret_manager_secret" "deployment" {
  for_each = local.secrets

  project   = var.project_id
  secret_id = each.value

  replication {
    auto {}
  }

  lifecycle {
    # Without the key no label proves anything, and cleanup would find nothing to be ours.
    prevent_destroy = true
  }

  depends_on = [time_sleep.apis]
}
