# Who acts: one service account a function (`check` has that of `run-cloud-step`), those that call them, and the one that builds them. What each may do stands in
# roles.json, which the simulated cloud of the tests enforces too.

locals {
  roles = jsondecode(file("${path.module}/roles.json"))
  # Ids of service accounts have at least six characters, so the functions' names alone would not do.
  accounts = merge(
    { for name in distinct(values(local.account_of)) : name => "plinth-${name}" },
    { scheduler = "plinth-scheduler", eventarc = "plinth-eventarc", builder = "plinth-builder" },
  )
}

resource "google_service_account" "identity" {
  for_each = local.accounts

  project      = var.project_id
  account_id   = each.value
  display_name = contains(keys(local.function_table), each.key) ? "plinth: function ${each.key}" : "plinth: ${each.key}"

  depends_on = [time_sleep.apis]
}

# Accounts are named by what this gives: so nobody names one that Google does not know everywhere yet.
resource "time_sleep" "accounts" {
  create_duration = "60s"
  triggers        = { for name, account in google_service_account.identity : name => account.email }

  depends_on = [google_project_iam_custom_role.plinth]
}

locals {
  identities = {
    for name in keys(local.accounts) : name => {
      email  = time_sleep.accounts.triggers[name]
      member = "serviceAccount:${time_sleep.accounts.triggers[name]}"
      id     = "projects/${var.project_id}/serviceAccounts/${time_sleep.accounts.triggers[name]}"
    }
  }
}

resource "google_project_iam_custom_role" "plinth" {
  for_each = local.roles.customRoles

  project     = var.project_id
  role_id     = each.key
  title       = each.value.title
  description = each.value.description
  permissions = each.value.permissions

  depends_on = [time_sleep.apis]
}
