# One screen for whoever is on duty.

locals {
  tiles = concat(
    [
      { title = "Requests by function", filter = local.requests, aligner = "ALIGN_RATE", by = ["resource.label.service_name"] },
      { title = "5xx by function", filter = "${local.requests} AND metric.label.response_code_class=\"5xx\"", aligner = "ALIGN_RATE", by = ["resource.label.service_name"] },
      { title = "Instances by function", filter = "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/container/instance_count\"", aligner = "ALIGN_MAX", by = ["resource.label.service_name"] },
      { title = "Messages not yet acknowledged", filter = "resource.type=\"pubsub_subscription\" AND metric.type=\"pubsub.googleapis.com/subscription/num_undelivered_messages\"", aligner = "ALIGN_MAX", by = ["resource.label.subscription_id"] },
      { title = "Age of the oldest message not yet acknowledged", filter = local.oldest_message, aligner = "ALIGN_MAX", by = ["resource.label.subscription_id"] },
      { title = "Busy places of the host lane, by instance", filter = local.busy_places, aligner = "ALIGN_PERCENTILE_50", by = ["resource.label.service_name"] },
    ],
    [
      for name, metric in local.log_metrics : {
        title   = metric.description
        filter  = "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${google_logging_metric.log[name].name}\""
        aligner = "ALIGN_SUM"
        by      = ["metric.label.function"]
      }
    ],
  )
}

resource "google_monitoring_dashboard" "plinth" {
  project = var.project_id

  dashboard_json = jsonencode({
    displayName = "plinth (${var.deployment})"
    mosaicLayout = {
      columns = 48
      tiles = [
        # Google leaves zeros out: what is written with them would be changed by each plan.
        for i, tile in local.tiles : merge(i % 2 == 0 ? {} : { xPos = 24 }, i < 2 ? {} : { yPos = floor(i / 2) * 16 }, {
          width                                                     = 24
          height                                                    = 16
          widget = {
            title = tile.title
            xyChart = {
              dataSets = [{
                plotType = "LINE"
                timeSeriesQuery = {
                  timeSeriesFilter = {
                    filter = tile.filter
                    aggregation = {
                      alignmentPeriod    = "300s"
                      perSeriesAligner   = tile.aligner
                      crossSeriesReducer = "REDUCE_SUM"
                      groupByFields      = tile.by
                    }
                  }
                }
              }]
            }
          }
        })
      ]
    }
  })
}
