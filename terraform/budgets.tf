# What may be spent in a month before somebody is told; nothing is stopped by it.

locals {
  budgets = {
    for name, budget in {
      own        = { title = "plinth itself", projects = ["projects/${data.google_project.plinth.number}"], parents = null }
      bootstraps = { title = "bootstraps of plinth", projects = null, parents = var.parents }
    } : name => budget if var.budget != null
  }
}

resource "google_billing_budget" "monthly" {
  for_each = local.budgets

  billing_account = var.budget.billing_account
  display_name    = each.value.title

  budget_filter {
    projects           = each.value.projects
    resource_ancestors = each.value.parents
    calendar_period    = "MONTH"
  }

  amount {
    specified_amount {
      units = tostring(var.budget[each.key])
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1]
    content {
      threshold_percent = threshold_rules.value
    }
  }

  # While there is time to do something.
  threshold_rules {
    threshold_percent = 1
    spend_basis       = "FORECASTED_SPEND"
  }

  all_updates_rule {
    monitoring_notification_channels = local.channels
    disable_default_iam_recipients   = false
  }

  depends_on = [time_sleep.apis]
}
